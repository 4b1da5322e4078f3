package dev.quipu.server.cli.input;

import dev.quipu.Bounds;
import dev.quipu.Decimal;
import dev.quipu.RequestId;
import dev.quipu.engine.transfer.Entry;
import dev.quipu.server.cli.input.EntryLine.Members;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import tools.jackson.databind.JsonNode;

/**
 * Transactions and holds of a data directory as lines of JSON.
 *
 * <pre>{@code
 * {"transaction":"0123456789abcdef0123456789abcdef","state":"settled","contents":"-7",
 *   "expiresAt":"2026-11-28T01:02:03.004Z","late":"apply","excess":"allow",
 *   "adds":[{"counter":"budget","added":"-5","kept":"-3","floor":"0","ceiling":"9"}]}
 * }</pre>
 */
final class TransactionLine {
  private static final Map<String, Entry.Transaction.State> STATES = states();

  private TransactionLine() {}

  private static Map<String, Entry.Transaction.State> states() {
    Map<String, Entry.Transaction.State> states = new LinkedHashMap<>();
    for (Entry.Transaction.State state : Entry.Transaction.State.values()) {
      states.put(text(state), state);
    }
    return states;
  }

  private static String text(Entry.Transaction.State state) {
    return state.name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  static Map<String, Object> members(Entry.Transaction transaction) {
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("transaction", RequestId.of(transaction.high(), transaction.low()).bits());
    members.put("state", text(transaction.state()));
    members.put("contents", Long.toString(transaction.contents()));
    EntryLine.putExpiry(members, transaction.expiresAtMillis());
    if (transaction.isLateApplied()) {
      members.put("late", "apply");
    }
    if (transaction.isExcessAllowed()) {
      members.put("excess", "allow");
    }
    members.put("adds", transaction.parts().stream().map(TransactionLine::members).toList());
    return members;
  }

  private static Map<String, Object> members(Entry.Part part) {
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("counter", part.counter());
    members.put("added", Long.toString(part.added()));
    members.put("kept", Long.toString(part.kept()));
    if (part.bounds().floor() != Long.MIN_VALUE) {
      members.put("floor", Long.toString(part.bounds().floor()));
    }
    if (part.bounds().ceiling() != Long.MAX_VALUE) {
      members.put("ceiling", Long.toString(part.bounds().ceiling()));
    }
    if (part.scale() != 0) {
      members.put("scale", Integer.toString(part.scale()));
    }
    if (part.isVoid()) {
      members.put("void", true);
    }
    return members;
  }

  static Entry.Transaction parse(Members in) {
    RequestId id = in.id("transaction");
    Entry.Transaction.State state = STATES.get(in.text("state"));
    if (state == null) {
      throw new IllegalArgumentException("state: not one of " + STATES.keySet());
    }
    List<Entry.Part> parts = new ArrayList<>();
    for (JsonNode each : in.objects("adds")) {
      parts.add(part(new Members(each)));
    }
    return new Entry.Transaction(
        id.high(),
        id.low(),
        state,
        in.number("contents"),
        in.expiry(),
        is(in, "late", "apply"),
        is(in, "excess", "allow"),
        parts);
  }

  private static boolean is(Members in, String name, String only) {
    if (!in.has(name)) {
      return false;
    }
    if (!in.text(name).equals(only)) {
      throw new IllegalArgumentException("%s: not '%s'".formatted(name, only));
    }
    return true;
  }

  private static Entry.Part part(Members in) {
    boolean isVoid = in.has("void");
    if (isVoid) {
      in.requireTrue("void");
    }
    Entry.Part part =
        new Entry.Part(
            in.text("counter"),
            in.number("added"),
            in.number("kept"),
            Bounds.between(
                in.has("floor") ? in.number("floor") : Long.MIN_VALUE,
                in.has("ceiling") ? in.number("ceiling") : Long.MAX_VALUE),
            in.has("scale") ? Decimal.checkScale(in.number("scale")) : 0,
            isVoid);
    in.requireAllRead();
    return part;
  }
}
