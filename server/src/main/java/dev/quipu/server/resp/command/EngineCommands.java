package dev.quipu.server.resp.command;

import dev.quipu.Guarantee;
import dev.quipu.engine.CounterAccess;
import dev.quipu.engine.Engine;
import dev.quipu.server.protocol.Flush;
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

/** Commands about what counts, and those that counters reject. */
final class EngineCommands {
  private EngineCommands() {}

  static List<RespCommand> all() {
    return List.of(
        RespCommand.of("quipu.explain", "key")
            .summary("Shows how a counter is kept, and what a lost reply means.")
            .arity(2)
            .onTurn((session, words) -> turn -> explain(session, turn, words)),
        rejected("incrbyfloat", 3, "key increment", "INCRBY"),
        rejected("hincrbyfloat", 4, "key field increment", "HINCRBY"),
        RespCommand.of("flushall", "[ASYNC | SYNC]")
            .summary("Removes everything, if the server was started so that it may.")
            .arity(-1)
            .onTurn(EngineCommands::flush),
        RespCommand.of("flushdb", "[ASYNC | SYNC]")
            .summary("Removes everything, if the server was started so that it may.")
            .arity(-1)
            .onTurn(EngineCommands::flush));
  }

  private static RespCommand rejected(String name, int arity, String usage, String instead) {
    return RespCommand.of(name, usage)
        .summary("Is rejected: counters have no fractions.")
        .arity(arity)
        .writes((turn, words) -> {
          throw new Rejected("ERR counters have no fractions: use " + instead);
        });
  }

  private static Reply explain(Session session, CounterAccess turn, Arguments words) {
    String key = words.key(1);
    Kind kind = Kind.of(turn, key);
    if (kind == Kind.NONE) {
      return Replies.NULL;
    }
    List<Reply> told = new ArrayList<>();
    tell(told, "key", Reply.bulk(Family.shown(key)));
    tell(told, "kind", Reply.bulk(kind.meaning()));
    turn.get(key).ifPresent(value -> tell(told, "value", new Reply.Number(value)));
    long at = Kind.expiresAt(turn, key);
    tell(told, "expires-at-ms", at == 0 ? Replies.NULL : new Reply.Number(at));
    tell(told, "durability", Reply.bulk(session.shared.engine().durability().toString()));
    tell(told, "technique", Reply.bulk(Engine.SPEC.name()));
    tell(told, "how", Reply.bulk(Engine.SPEC.summary()));
    List<Reply> guarantees =
        Engine.SPEC.guarantees().stream().map(Guarantee::name).sorted().map(Reply::bulk).toList();
    tell(told, "guarantees", new Reply.Several(guarantees));
    tell(
        told,
        "after-a-lost-reply",
        Reply.bulk(
            "QUIPU.ADD: "
                + Engine.SPEC.afterLostReply()
                + ". INCR and the others: unknown; a repeat may count twice."));
    return new Reply.Pairs(told);
  }

  private static void tell(List<Reply> told, String name, Reply value) {
    told.add(Reply.bulk(name));
    told.add(value);
  }

  private static DeferredCommand flush(Session session, Arguments words) {
    if (words.size() > 2
        || (words.size() == 2 && !words.word(1).equals("ASYNC") && !words.word(1).equals("SYNC"))) {
      throw new Rejected(Arguments.SYNTAX);
    }
    if (!session.shared.mayFlush()) {
      throw new Rejected("ERR flushing is off: it needs --allow-flush");
    }
    if (session.isQueueing()) {
      throw new Rejected("ERR flushing is no part of a transaction");
    }
    return new Flushing();
  }

  /** In parts, between which nobody else comes. */
  private static final class Flushing implements DeferredCommand {
    private final Flush flush = new Flush();

    @Override
    public int bytesMax(CounterAccess turn) {
      return Flush.bytesMax();
    }

    @Override
    public Reply on(CounterAccess turn) {
      flush.part(turn);
      return Replies.OK;
    }

    @Override
    public boolean isDone() {
      return flush.isDone();
    }
  }
}
