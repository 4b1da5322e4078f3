package dev.quipu.appengine;

import com.google.appengine.api.datastore.Entity;
import com.google.appengine.api.datastore.KeyFactory;
import com.google.appengine.api.datastore.Text;
import dev.quipu.NotAppliedException;
import dev.quipu.QuipuException;
import dev.quipu.Reason;
import dev.quipu.entity.EntityDriver;
import dev.quipu.store.Item;
import dev.quipu.store.Item.Field;
import dev.quipu.store.Key;
import dev.quipu.store.StoreProfile.Atomicity;
import java.util.Collection;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Converts items to entities; {@link AppEngineDriver} describes the layout. */
final class Entities {
  static final String KIND = "Quipu";

  private static final String GROUP_KIND = "QuipuGroup";

  private final Atomicity group;

  /** Creates a converter for entity groups of this scope. */
  Entities(Atomicity group) {
    this.group = group;
  }

  /** Returns the root of a partition's group, if partitions are groups. */
  Optional<com.google.appengine.api.datastore.Key> root(String partition) {
    return group == Atomicity.PARTITION
        ? Optional.of(KeyFactory.createKey(GROUP_KIND, Key.group(partition)))
        : Optional.empty();
  }

  com.google.appengine.api.datastore.Key key(Key key) {
    return root(key.partition())
        .map(root -> KeyFactory.createKey(root, KIND, key.place()))
        .orElseGet(() -> KeyFactory.createKey(KIND, key.place()));
  }

  Entity entity(Item item) {
    Entity entity = new Entity(key(item.key()));
    entity.setIndexedProperty(EntityDriver.PLACE, item.key().place());
    entity.setUnindexedProperty(EntityDriver.VERSION, item.version().token());
    item.expiresAt()
        .ifPresent(at -> entity.setIndexedProperty(EntityDriver.EXPIRY, at.toEpochMilli()));
    item.fields()
        .forEach((name, field) -> {
          Object value =
              switch (field) {
                case Field.Number number -> number.value();
                case Field.Text text -> new Text(text.value());
                case Field.Tokens tokens -> tokens.values().stream().map(Text::new).toList();
              };
          entity.setUnindexedProperty(EntityDriver.property(name), value);
        });
    return entity;
  }

  /**
   * Returns the item of an entity.
   *
   * @throws QuipuException if it has values that Quipu does not store
   */
  static Item item(Key key, Entity entity) {
    return EntityDriver.item(
        key,
        entity.getProperties(),
        value -> field(key, value),
        String.valueOf(entity.getProperty(EntityDriver.VERSION)),
        (Long) entity.getProperty(EntityDriver.EXPIRY));
  }

  private static Field field(Key key, @Nullable Object value) {
    return switch (value) {
      case Long number -> new Field.Number(number);
      case Text text -> new Field.Text(text.getValue());
      case Collection<?> tokens -> new Field.Tokens(tokens(tokens));
      case null, default ->
          throw new NotAppliedException(
              Reason.CORRUPT,
              "App Engine: entity %s has a property of a type that Quipu does not store"
                  .formatted(key));
    };
  }

  private static Set<String> tokens(Collection<?> values) {
    return values.stream().map(each -> ((Text) each).getValue()).collect(Collectors.toSet());
  }
}
