package dev.quipu.engine;

import dev.quipu.NotAppliedException;
import dev.quipu.Reason;
import dev.quipu.engine.commit.Committer;
import dev.quipu.engine.commit.Group;
import dev.quipu.engine.commit.Task;
import dev.quipu.engine.log.Records;
import dev.quipu.engine.state.State;
import dev.quipu.store.BatchDriver;
import dev.quipu.store.BatchDriver.RequestToken;
import dev.quipu.store.Item;
import dev.quipu.store.Key;
import dev.quipu.store.Scan;
import dev.quipu.store.Scan.Page;
import dev.quipu.store.ScanDriver;
import dev.quipu.store.StoreDriver.Consistency;
import dev.quipu.store.StoreProfile;
import dev.quipu.store.StoreProfile.Atomicity;
import dev.quipu.store.StoreProfile.Capability;
import dev.quipu.store.Write;
import dev.quipu.store.WriteResult;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Presents the engine as a store, so that every technique runs on it.
 *
 * <p>Items are kept in a sorted map in memory; the log holds each item as a write left it. A batch
 * lies in one frame, so it is atomic. Conditions are evaluated by {@link Write#applyTo}. An item is
 * at most 64 KiB, a batch 100 items; all items must fit in memory.
 */
final class EngineDriver implements BatchDriver, ScanDriver {
  private static final int ITEM_BYTES_MAX = 64 << 10;
  private static final int ITEM_GROWN_BYTES_MAX = 4 * ITEM_BYTES_MAX; // measured as log bytes
  private static final int BATCH_ITEMS_MAX = 100;
  static final StoreProfile PROFILE =
      new StoreProfile(
          "engine",
          EnumSet.of(
              Capability.STRONG_READ,
              Capability.NATIVE_ADD,
              Capability.NATIVE_UPDATE,
              Capability.ATOMIC_BATCH,
              Capability.BATCH_RETURNS,
              Capability.ORDERED_SCAN,
              Capability.NATIVE_EXPIRY,
              Capability.DURABLE),
          Atomicity.STORE,
          BATCH_ITEMS_MAX,
          ITEM_BYTES_MAX);

  private final Committer committer;

  EngineDriver(Committer committer) {
    this.committer = committer;
  }

  @Override
  public StoreProfile profile() {
    return PROFILE;
  }

  @Override
  public Optional<Item> get(Key key, Consistency consistency) {
    return getAll(List.of(key)).getFirst();
  }

  @Override
  public List<Optional<Item>> getAll(List<Key> keys) {
    return committer.get((state, group) -> keys.stream().map(state.items::get).toList());
  }

  @Override
  public WriteResult writeAll(List<Write> writes, @Nullable RequestToken token) {
    if (token != null) {
      throw PROFILE.lacks(Capability.TOKEN_BATCH);
    }
    WriteTask task = new WriteTask(writes);
    committer.run(task);
    return task.result;
  }

  @Override
  public Page scan(Scan scan) {
    return committer.get((state, group) -> state.items.page(scan));
  }

  @Override
  public List<String> partitions(String prefix, String after, int namesMax) {
    return committer.get((state, group) -> state.items.partitions(prefix, after, namesMax));
  }

  /** Does nothing: the engine is closed as a whole. */
  @Override
  public void close() {}

  private static final class WriteTask extends Task {
    private final List<Write> writes;
    private WriteResult result = new WriteResult.Applied(Optional.empty());

    WriteTask(List<Write> writes) {
      this.writes = writes;
    }

    @Override
    public boolean run(State state, Group group) {
      List<Optional<Item>> after = new ArrayList<>(writes.size());
      long bytes = 0;
      long grown = 0;
      long version = state.commands + group.commands();
      for (Write write : writes) {
        Optional<Item> before = state.items.get(write.key());
        switch (write.applyTo(before, Records.version(++version))) {
          case Write.Effect.Unmet unmet -> {
            result = new WriteResult.ConditionFailed(write.key(), before);
            return true;
          }
          case Write.Effect.Now now -> {
            after.add(now.item());
            bytes += bytesOf(write.key(), now.item());
            grown += State.itemBytes(now.item()) - State.itemBytes(before);
          }
        }
      }
      int needed = (int) Math.min(bytes, Integer.MAX_VALUE);
      if (!group.canEverFit(needed)) {
        throw new NotAppliedException(
            Reason.INVALID,
            "a batch of %d bytes does not fit into the log; use larger segments or smaller batches"
                .formatted(bytes));
      }
      group.requireWritable();
      if (!group.fits(needed)) {
        return false;
      }
      state.requireMemory(grown);
      state.beginChange();
      for (int i = 0; i < after.size(); i++) {
        apply(state, group, writes.get(i).key(), after.get(i));
      }
      state.endChange();
      result = new WriteResult.Applied(after.getLast());
      return true;
    }

    private static int bytesOf(Key key, Optional<Item> item) {
      if (item.isEmpty()) {
        return Records.keyBytesMax(key);
      }
      int bytes = Records.itemBytesMax(item.get());
      if (bytes > ITEM_GROWN_BYTES_MAX) {
        throw new NotAppliedException(
            Reason.INVALID,
            "item would grow to %d bytes; the limit is %d".formatted(bytes, ITEM_GROWN_BYTES_MAX));
      }
      return bytes;
    }

    private static void apply(State state, Group group, Key key, Optional<Item> item) {
      state.setItem(key, item);
      if (item.isPresent()) {
        group.item(item.get());
      } else {
        group.noItem(key);
      }
    }
  }
}
