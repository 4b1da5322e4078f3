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

/** Commands that count different things, about. */
final class SketchCommands {
  private static final int KEYS_MAX = 64;

  private SketchCommands() {}

  static List<RespCommand> all() {
    return List.of(
        RespCommand.of("pfadd", "key [element ...]")
            .summary("Adds to the different things under a key: whether that changed their number.")
            .arity(-2)
            .onWholeKeys()
            .writes(SketchCommands::add),
        RespCommand.of("pfcount", "key [key ...]")
            .summary(
                "Returns the number of distinct elements: exactly up to 512, then within 0.84 %.")
            .arity(-2)
            .everyKey(1)
            .reads((turn, words) -> new Reply.Number(union(turn, words, 1).estimate())),
        RespCommand.of("pfmerge", "key [key ...]")
            .summary("Unites the different things under several keys under the first.")
            .arity(-2)
            .everyKey(1)
            .onWholeKeys()
            .writes((turn, words) -> {
              DistinctSketch all = union(turn, words, 1);
              turn.setText(words.key(1), StoredText.ofSketch(all.bytes()));
              return Replies.OK;
            }));
  }

  private static DistinctSketch read(CounterAccess turn, String key) {
    Kind kind = Kind.of(turn, key);
    if (kind == Kind.COUNTER || kind == Kind.TEXT) {
      throw new Rejected("WRONGTYPE Key is not a valid HyperLogLog string value.");
    }
    Kind.require(turn, key, Kind.SKETCH);
    byte[] stored = turn.text(key);
    return stored == null ? DistinctSketch.empty() : DistinctSketch.of(StoredText.content(stored));
  }

  private static DistinctSketch union(CounterAccess turn, Arguments words, int first) {
    if (words.size() - first > KEYS_MAX) {
      throw new Rejected("ERR %d keys at once, the limit is %d".formatted(words.size(), KEYS_MAX));
    }
    DistinctSketch all = DistinctSketch.empty();
    for (int i = first; i < words.size(); i++) {
      all.merge(read(turn, words.key(i)));
    }
    return all;
  }

  private static Reply add(CounterAccess turn, Arguments words) {
    String key = words.key(1);
    DistinctSketch sketch = read(turn, key);
    boolean isChanged = !turn.exists(key);
    for (int i = 2; i < words.size(); i++) {
      isChanged |= sketch.add(words.bytes(i));
    }
    if (isChanged) {
      turn.setText(key, StoredText.ofSketch(sketch.bytes()));
    }
    return Reply.of(isChanged);
  }
}
