package dev.quipu.datastore;

import com.google.cloud.datastore.Entity;
import com.google.cloud.datastore.KeyFactory;
import com.google.cloud.datastore.ListValue;
import com.google.cloud.datastore.LongValue;
import com.google.cloud.datastore.StringValue;
import com.google.cloud.datastore.Value;
import dev.quipu.Reason;
import dev.quipu.StoreException;
import dev.quipu.store.Field;
import dev.quipu.store.Item;
import dev.quipu.store.Item.Version;
import dev.quipu.store.Key;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/** How items become entities; {@link DatastoreDriver} has the layout. */
final class Entities {
  static final String PLACE = "at";
  static final String EXPIRY = "x";

  private static final String VERSION = "v";
  private static final String FIELD = "f.";

  private final Supplier<KeyFactory> keys;

  /** Entities of the kind that {@code keys} makes keys of. */
  Entities(Supplier<KeyFactory> keys) {
    this.keys = keys;
  }

  com.google.cloud.datastore.Key key(Key key) {
    return keys.get().newKey(key.place());
  }

  Entity entity(Item item) {
    Entity.Builder entity =
        Entity.newBuilder(key(item.key()))
            .set(PLACE, item.key().place())
            .set(VERSION, unindexed(item.version().token()));
    item.expiresAt().ifPresent(at -> entity.set(EXPIRY, at.toEpochMilli()));
    item.fields()
        .forEach((name, field) -> {
          Value<?> value =
              switch (field) {
                case Field.Number number ->
                    LongValue.newBuilder(number.value()).setExcludeFromIndexes(true).build();
                case Field.Text text -> unindexed(text.value());
                case Field.Tokens tokens ->
                    ListValue.of(tokens.values().stream().map(Entities::unindexed).toList());
              };
          entity.set(FIELD + name, value);
        });
    return entity.build();
  }

  private static StringValue unindexed(String text) {
    return StringValue.newBuilder(text).setExcludeFromIndexes(true).build();
  }

  /**
   * The item that an entity is.
   *
   * @throws StoreException if it has values that Quipu does not store
   */
  Item item(Key key, Entity entity) {
    Map<String, Field> fields = new HashMap<>();
    for (Map.Entry<String, Value<?>> each : entity.getProperties().entrySet()) {
      if (each.getKey().startsWith(FIELD)) {
        fields.put(each.getKey().substring(FIELD.length()), field(key, each.getValue()));
      }
    }
    Optional<Instant> expiresAt =
        entity.contains(EXPIRY)
            ? Optional.of(Instant.ofEpochMilli(entity.getLong(EXPIRY)))
            : Optional.empty();
    return new Item(key, fields, new Version(entity.getString(VERSION)), expiresAt);
  }

  private static Field field(Key key, Value<?> value) {
    return switch (value) {
      case LongValue number -> new Field.Number(number.get());
      case StringValue text -> new Field.Text(text.get());
      case ListValue tokens -> new Field.Tokens(tokens(tokens.get()));
      default ->
          throw StoreException.notApplied(
              Reason.CORRUPT, "Datastore: %s has a %s".formatted(key, value.getType()));
    };
  }

  private static Set<String> tokens(List<? extends Value<?>> values) {
    return values.stream().map(each -> (String) each.get()).collect(Collectors.toSet());
  }
}
