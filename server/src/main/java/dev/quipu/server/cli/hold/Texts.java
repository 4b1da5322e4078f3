package dev.quipu.server.cli.hold;

import dev.quipu.Add;
import dev.quipu.Decimal;
import dev.quipu.HoldReading;
import dev.quipu.RequestId;
import dev.quipu.server.cli.output.Output;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The amounts and the results of the commands, as text and as JSON. */
final class Texts {
  private Texts() {}

  /** Parses {@code NAME=DELTA}; a name may contain an equals sign. */
  static Add add(String option, String text, @Nullable Decimal floor, @Nullable Decimal ceiling) {
    return Add.of(name(option, text), delta(option, text), floor, ceiling, null);
  }

  /** Returns the name in {@code NAME=DELTA}. */
  static String name(String option, String text) {
    int equals = text.lastIndexOf('=');
    if (equals < 1) {
      throw new IllegalArgumentException("%s is '%s'; use NAME=DELTA".formatted(option, text));
    }
    return text.substring(0, equals);
  }

  /** Returns the amount in {@code NAME=DELTA}. */
  static Decimal delta(String option, String text) {
    return Decimal.parse(
        "%s is '%s': the delta".formatted(option, text), text.substring(text.lastIndexOf('=') + 1));
  }

  static String word(Enum<?> constant) {
    return constant.name().toLowerCase(Locale.ROOT);
  }

  /**
   * Returns a hold in one line: id, state, expiry, and what is held or was kept of each counter.
   *
   * @param id as it was given; an engine in this process knows its 128 bits only
   */
  static String line(RequestId id, HoldReading hold) {
    StringBuilder line = new StringBuilder(Output.oneLine(id.text()));
    line.append('\t').append(word(hold.state())).append('\t').append(hold.expires());
    for (HoldReading.Part part : hold.counters()) {
      line.append('\t').append(Output.oneLine(part.counter()));
      long held = hold.state() == HoldReading.State.OPEN ? part.delta() : 0;
      line.append('=').append(part.text(part.settled().orElse(held)));
    }
    return line.append(hold.isLate() ? "\t(late)" : "").toString();
  }

  /** Returns the members of a hold. */
  static Map<String, Object> members(RequestId id, HoldReading hold) {
    List<Map<String, Object>> counters =
        hold.counters().stream()
            .map(part -> {
              Map<String, Object> members =
                  Output.members("counter", part.counter(), "delta", part.text(part.delta()));
              part.settled().ifPresent(kept -> members.put("settled", part.text(kept)));
              return members;
            })
            .toList();
    Map<String, Object> members = Output.members("id", id.text(), "state", word(hold.state()));
    members.put("counters", counters);
    members.put("expires", hold.expires().toString());
    if (hold.isLate()) {
      members.put("late", true);
    }
    return members;
  }
}
