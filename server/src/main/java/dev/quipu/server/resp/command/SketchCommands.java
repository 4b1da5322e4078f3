package dev.quipu.server.resp.command;

import dev.quipu.engine.CounterAccess;
import dev.quipu.server.protocol.StoredText;
import dev.quipu.server.resp.key.Arguments;
import dev.quipu.server.resp.key.Arguments.Rejected;
import dev.quipu.server.resp.key.Kind;
import dev.quipu.server.resp.wire.Replies;
import dev.quipu.server.resp.wire.Reply;
import dev.quipu.sketches.DistinctSketch;
import java.util.List;

/** Commands that estimate the number of distinct elements. */
final class SketchCommands {
  private static final int KEYS_MAX = 64;

  private SketchCommands() {}

  static List<RespCommand> all() {
    return List.of(
        RespCommand.of("pfadd", "key [element ...]")
            .summary("Adds elements to a distinct count. Returns whether the estimate changed.")
            .onWholeKeys()
            .writes(SketchCommands::add),
        RespCommand.of("pfcount", "key [key ...]")
            .summary("Returns the number of distinct elements: exact up to 512, then within 0.84%.")
            .everyKey(1)
            .reads((counters, words) -> new Reply.Number(union(counters, words, 1).estimate())),
        RespCommand.of("pfmerge", "key [key ...]")
            .summary("Merges distinct counts into the first key.")
            .everyKey(1)
            .onWholeKeys()
            .writes((counters, words) -> {
              DistinctSketch all = union(counters, words, 1);
              counters.setText(words.key(1), StoredText.ofSketch(all.bytes()));
              return Replies.OK;
            }));
  }

  private static DistinctSketch read(CounterAccess counters, String key) {
    Kind kind = Kind.of(counters, key);
    if (kind == Kind.COUNTER || kind == Kind.TEXT) {
      throw new Rejected("WRONGTYPE Key is not a valid HyperLogLog string value.");
    }
    Kind.require(counters, key, Kind.SKETCH);
    byte[] stored = counters.text(key);
    return stored == null ? DistinctSketch.empty() : DistinctSketch.of(StoredText.content(stored));
  }

  private static DistinctSketch union(CounterAccess counters, Arguments words, int first) {
    if (words.size() - first > KEYS_MAX) {
      throw new Rejected(
          "ERR command has %d keys; the limit is %d".formatted(words.size(), KEYS_MAX));
    }
    DistinctSketch all = DistinctSketch.empty();
    for (int i = first; i < words.size(); i++) {
      all.merge(read(counters, words.key(i)));
    }
    return all;
  }

  private static Reply add(CounterAccess counters, Arguments words) {
    String key = words.key(1);
    DistinctSketch sketch = read(counters, key);
    boolean isChanged = !counters.exists(key);
    for (int i = 2; i < words.size(); i++) {
      isChanged |= sketch.add(words.bytes(i));
    }
    if (isChanged) {
      counters.setText(key, StoredText.ofSketch(sketch.bytes()));
    }
    return Reply.of(isChanged);
  }
}
