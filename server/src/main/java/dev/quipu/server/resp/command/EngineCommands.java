package dev.quipu.server.resp.command;

import dev.quipu.Guarantee;
import dev.quipu.engine.CounterAccess;
import dev.quipu.engine.Engine;
import dev.quipu.server.protocol.Flush;
import dev.quipu.server.resp.key.Amounts;
import dev.quipu.server.resp.key.Arguments;
import dev.quipu.server.resp.key.Arguments.Rejected;
import dev.quipu.server.resp.key.Family;
import dev.quipu.server.resp.key.Kind;
import dev.quipu.server.resp.session.Session;
import dev.quipu.server.resp.wire.DeferredCommand;
import dev.quipu.server.resp.wire.Replies;
import dev.quipu.server.resp.wire.Reply;
import java.util.ArrayList;
import java.util.List;

/** Commands on the engine as a whole, and unsupported ones. */
final class EngineCommands {
  private EngineCommands() {}

  static List<RespCommand> all() {
    return List.of(
        RespCommand.of("quipu.explain", "key")
            .summary(
                "Shows how a key is stored, with its guarantees and the outcome of a lost reply.")
            .onEngine((session, words) -> counters -> explain(session, counters, words)),
        flush("flushall"),
        flush("flushdb"));
  }

  private static RespCommand flush(String name) {
    return RespCommand.of(name, "[ASYNC | SYNC]")
        .summary("Removes all keys; requires --allow-flush.")
        .onEngine(EngineCommands::flush);
  }

  private static Reply explain(Session session, CounterAccess counters, Arguments words) {
    String key = words.key(1);
    Kind kind = Kind.of(counters, key);
    if (kind == Kind.NONE) {
      return Replies.NULL;
    }
    List<Reply> facts = new ArrayList<>();
    add(facts, "key", Reply.bulk(Family.shown(key)));
    add(facts, "kind", Reply.bulk(kind.meaning()));
    counters
        .reading(key)
        .ifPresent(reading -> {
          add(facts, "value", Amounts.reply(reading.value(), reading.scale()));
          if (reading.scale() != 0) {
            add(facts, "scale", new Reply.Number(reading.scale()));
          }
        });
    long at = Kind.expiresAt(counters, key);
    add(facts, "expires-at-ms", at == 0 ? Replies.NULL : new Reply.Number(at));
    add(facts, "durability", Reply.bulk(session.shared.engine().durability().toString()));
    add(facts, "technique", Reply.bulk(Engine.SPEC.name()));
    add(facts, "how", Reply.bulk(Engine.SPEC.summary()));
    List<Reply> guarantees =
        Engine.SPEC.guarantees().stream().map(Guarantee::name).sorted().map(Reply::bulk).toList();
    add(facts, "guarantees", new Reply.Several(guarantees));
    add(
        facts,
        "after-a-lost-reply",
        Reply.bulk(
            "QUIPU.ADD: "
                + Engine.SPEC.afterLostReply()
                + ". INCR and the others: unknown; a repeat may count the add twice."));
    return new Reply.Pairs(facts);
  }

  private static void add(List<Reply> facts, String name, Reply value) {
    facts.add(Reply.bulk(name));
    facts.add(value);
  }

  private static DeferredCommand flush(Session session, Arguments words) {
    if (words.size() > 2
        || (words.size() == 2 && !words.word(1).equals("ASYNC") && !words.word(1).equals("SYNC"))) {
      throw new Rejected(Arguments.SYNTAX);
    }
    if (!session.shared.options().mayFlush()) {
      throw new Rejected("ERR flushing is disabled; start the server with --allow-flush");
    }
    if (session.isQueueing()) {
      throw new Rejected("ERR flushing is not allowed in a transaction");
    }
    return new Flushing();
  }

  /** Flushes in parts, without other commands in between. */
  private static final class Flushing implements DeferredCommand {
    private final Flush flush = new Flush();

    @Override
    public int bytesMax(CounterAccess counters) {
      return Flush.bytesMax();
    }

    @Override
    public Reply run(CounterAccess counters) {
      flush.part(counters);
      return Replies.OK;
    }

    @Override
    public boolean isDone() {
      return flush.isDone();
    }
  }
}
