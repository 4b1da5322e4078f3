package dev.quipu.datastore;

import com.google.cloud.datastore.Entity;
import com.google.cloud.datastore.KeyFactory;
import com.google.cloud.datastore.ListValue;
import com.google.cloud.datastore.LongValue;
import com.google.cloud.datastore.StringValue;
import com.google.cloud.datastore.Value;
import dev.quipu.NotAppliedException;
import dev.quipu.QuipuException;
import dev.quipu.Reason;
import dev.quipu.entity.EntityDriver;
import dev.quipu.store.Item;
import dev.quipu.store.Item.Field;
import dev.quipu.store.Key;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Converts items to entities; {@link DatastoreDriver} describes the layout. */
final class Entities {
  private final Supplier<KeyFactory> keys;

  /** Creates a converter for the kind of {@code keys}. */
  Entities(Supplier<KeyFactory> keys) {
    this.keys = keys;
  }

  com.google.cloud.datastore.Key key(Key key) {
    return keys.get().newKey(key.place());
  }

  Entity entity(Item item) {
    Entity.Builder entity =
        Entity.newBuilder(key(item.key()))
            .set(EntityDriver.PLACE, item.key().place())
            .set(EntityDriver.VERSION, unindexed(item.version().token()));
    item.expiresAt().ifPresent(at -> entity.set(EntityDriver.EXPIRY, at.toEpochMilli()));
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
          entity.set(EntityDriver.property(name), value);
        });
    return entity.build();
  }

  private static StringValue unindexed(String text) {
    return StringValue.newBuilder(text).setExcludeFromIndexes(true).build();
  }

  /**
   * Returns the item of an entity.
   *
   * @throws QuipuException if it has values that Quipu does not store
   */
  Item item(Key key, Entity entity) {
    return EntityDriver.item(
        key,
        entity.getProperties(),
        value -> field(key, value),
        entity.getString(EntityDriver.VERSION),
        expiryMillis(entity));
  }

  /** Returns when the entity expires; null if it does not. */
  static @Nullable Long expiryMillis(Entity entity) {
    return entity.contains(EntityDriver.EXPIRY) ? entity.getLong(EntityDriver.EXPIRY) : null;
  }

  private static Field field(Key key, Value<?> value) {
    return switch (value) {
      case LongValue number -> new Field.Number(number.get());
      case StringValue text -> new Field.Text(text.get());
      case ListValue tokens -> new Field.Tokens(tokens(tokens.get()));
      default ->
          throw new NotAppliedException(
              Reason.CORRUPT,
              "Datastore: entity %s has a property of type %s, which Quipu does not store"
                  .formatted(key, value.getType()));
    };
  }

  private static Set<String> tokens(List<? extends Value<?>> values) {
    return values.stream().map(each -> (String) each.get()).collect(Collectors.toSet());
  }
}
