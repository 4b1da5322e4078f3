package dev.quipu.testkit;

import dev.quipu.layer.ForwardingDriver;
import dev.quipu.store.BatchDriver.RequestToken;
import dev.quipu.store.Item;
import dev.quipu.store.Key;
import dev.quipu.store.Scan;
import dev.quipu.store.Scan.Page;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreDriver.Consistency;
import dev.quipu.store.Write;
import dev.quipu.store.WriteResult;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Records the calls of one client. */
final class RecordingDriver extends ForwardingDriver {
  private final StoreDriver driver;
  private final List<String> calls = new ArrayList<>();

  RecordingDriver(StoreDriver driver) {
    this.driver = driver;
  }

  @Override
  protected StoreDriver driver() {
    return driver;
  }

  /** Returns the number of calls with this prefix, and clears the record. */
  int callsOf(String start) {
    int found = (int) calls.stream().filter(call -> call.startsWith(start)).count();
    calls.clear();
    return found;
  }

  /** Returns all calls, and clears the record. */
  List<String> calls() {
    List<String> all = List.copyOf(calls);
    calls.clear();
    return all;
  }

  private void note(String call, Key key) {
    calls.add("%s %s/%s".formatted(call, key.partition(), key.sort()));
  }

  @Override
  public Optional<Item> get(Key key, Consistency consistency) {
    note("get", key);
    return super.get(key, consistency);
  }

  @Override
  public List<Optional<Item>> getAll(List<Key> keys) {
    note("get all", keys.getFirst());
    return super.getAll(keys);
  }

  @Override
  public List<Optional<Item>> getEach(List<Key> keys) {
    note("get each", keys.getFirst());
    return super.getEach(keys);
  }

  @Override
  public Page scan(Scan scan) {
    calls.add("scan " + scan.partition());
    return super.scan(scan);
  }

  @Override
  public WriteResult write(Write write) {
    note("write", write.key());
    return super.write(write);
  }

  @Override
  public WriteResult writeAll(List<Write> writes, @Nullable RequestToken token) {
    note("write all", writes.getFirst().key());
    return super.writeAll(writes, token);
  }
}
