package dev.quipu.layer;

import dev.quipu.Limits;
import dev.quipu.store.BatchDriver.RequestToken;
import dev.quipu.store.Item;
import dev.quipu.store.Item.Field;
import dev.quipu.store.Key;
import dev.quipu.store.Scan;
import dev.quipu.store.Scan.Page;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreDriver.Consistency;
import dev.quipu.store.StoreProfile;
import dev.quipu.store.StoreProfile.Atomicity;
import dev.quipu.store.StoreProfile.Capability;
import dev.quipu.store.Write;
import dev.quipu.store.Write.Change;
import dev.quipu.store.WriteResult;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Checks sizes and batches against the limits of a store, and calls against its capabilities. */
final class ValidationLayer extends Layer {
  private final StoreProfile profile;

  ValidationLayer(StoreDriver driver, StoreProfile profile) {
    super(driver);
    this.profile = profile;
  }

  @Override
  public List<Optional<Item>> getAll(List<Key> keys) {
    checkBatch(keys);
    return super.getAll(keys);
  }

  @Override
  public List<Optional<Item>> getEach(List<Key> keys) {
    checkBatch(keys);
    return super.getEach(keys);
  }

  @Override
  public WriteResult write(Write write) {
    check(write);
    return super.write(write);
  }

  @Override
  public WriteResult writeAll(List<Write> writes, @Nullable RequestToken token) {
    if (token != null && !profile.has(Capability.TOKEN_BATCH)) {
      throw profile.lacks(Capability.TOKEN_BATCH);
    }
    checkBatch(writes.stream().map(Write::key).toList());
    writes.forEach(this::check);
    return super.writeAll(writes, token);
  }

  @Override
  public Page scan(Scan scan) {
    boolean eventually =
        scan.consistency() == Consistency.EVENTUAL && profile.has(Capability.EVENTUAL_SCAN);
    if (!eventually) {
      checkOrdered();
    }
    return super.scan(scan);
  }

  @Override
  public long count(Scan scan) {
    checkOrdered();
    return super.count(scan);
  }

  private void checkOrdered() {
    if (!profile.has(Capability.ORDERED_SCAN)) {
      throw profile.lacks(Capability.ORDERED_SCAN);
    }
  }

  @Override
  public void addTokens(Key key, String field, Set<String> tokens) {
    checkTokens(tokens);
    super.addTokens(key, field, tokens);
  }

  @Override
  public void dropTokens(Key key, String field, Set<String> tokens) {
    checkTokens(tokens);
    super.dropTokens(key, field, tokens);
  }

  private static void checkTokens(Set<String> tokens) {
    if (tokens.isEmpty() || tokens.size() > Store.TOKENS_MAX) {
      throw new IllegalArgumentException(
          "call has %d tokens; it must have 1 to %d".formatted(tokens.size(), Store.TOKENS_MAX));
    }
  }

  private void checkBatch(List<Key> keys) {
    if (!profile.has(Capability.ATOMIC_BATCH)) {
      throw profile.lacks(Capability.ATOMIC_BATCH);
    }
    if (keys.isEmpty() || keys.size() > profile.batchItemsMax()) {
      throw new IllegalArgumentException(
          "batch has %d items; store %s allows 1 to %d"
              .formatted(keys.size(), profile.name(), profile.batchItemsMax()));
    }
    Set<Key> seen = new HashSet<>();
    for (Key key : keys) {
      if (!seen.add(key)) {
        throw new IllegalArgumentException("duplicate key in batch: " + key);
      }
      if (profile.atomicity() != Atomicity.STORE
          && !key.partition().equals(keys.getFirst().partition())) {
        throw new IllegalArgumentException(
            "store %s allows batches within one partition only".formatted(profile.name()));
      }
    }
  }

  private void check(Write write) {
    long bytes = 0;
    switch (write) {
      case Write.Put put -> {
        for (Map.Entry<String, Field> field : put.fields().entrySet()) {
          bytes += Limits.utf8Length(field.getKey()) + bytes(field.getValue());
        }
      }
      case Write.Update update -> {
        for (Change change : update.changes()) {
          bytes += bytes(change);
        }
      }
      case Write.Delete delete -> {
        // carries no data
      }
    }
    if (bytes > profile.itemBytesMax()) {
      throw new IllegalArgumentException(
          "write has %d bytes of fields; the limit of store %s is %d"
              .formatted(bytes, profile.name(), profile.itemBytesMax()));
    }
  }

  private static long bytes(Change change) {
    return Limits.utf8Length(change.field())
        + switch (change) {
          case Change.Add add -> 8L;
          case Change.Put put -> bytes(put.value());
          case Change.AddToken add -> Limits.utf8Length(add.token());
          case Change.DropToken drop -> 0L;
        };
  }

  private static long bytes(Field field) {
    return switch (field) {
      case Field.Number number -> 8;
      case Field.Text text -> Limits.utf8Length(text.value());
      case Field.Tokens tokens -> tokens.values().stream().mapToLong(Limits::utf8Length).sum();
    };
  }
}
