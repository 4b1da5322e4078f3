package dev.quipu.server.resp;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.handler.timeout.IdleStateEvent;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/*
 * One connection. All commands that have come are taken apart at once. What is about the connection
 * is done on the spot; what is about counters waits for the loop's commit, which does what came by
 * all connections of the loop in one group. Then all answers leave, in the order of the commands.
 */

/** One connection of the Redis port. Lives on its event loop. */
final class RespConnection extends ChannelInboundHandlerAdapter {
  /** What a transaction does not put off. */
  private static final String AT_ONCE = "multi|exec|discard|watch|quit|reset";

  private final Hub hub;
  private final LoopCommits commits;
  private final Wire wire = new Wire();
  private final List<Answer> answers = new ArrayList<>();
  private @Nullable ByteBuf rest;
  private @Nullable Session session;

  /** An answer to come, in the protocol that was spoken when it was asked for. */
  private record Answer(Supplier<Reply> reply, int protocol) {}

  RespConnection(Hub hub, LoopCommits commits) {
    this.hub = hub;
    this.commits = commits;
  }

  @Override
  public void channelActive(ChannelHandlerContext context) {
    session = hub.open(address(context));
    context.fireChannelActive();
  }

  private static String address(ChannelHandlerContext context) {
    return context.channel().remoteAddress() instanceof InetSocketAddress remote
        ? RespServer.text(remote)
        : "?";
  }

  @Override
  public void channelInactive(ChannelHandlerContext context) {
    Session ended = session;
    if (ended != null) {
      hub.close(ended);
      if (!ended.watched().isEmpty()) {
        commits.add(new Transactions.Watching(ended, List.of()));
      }
    }
    if (rest != null) {
      rest.release();
      rest = null;
    }
    context.fireChannelInactive();
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    Session known = session;
    ByteBuf came = (ByteBuf) message;
    if (known == null || known.isEnding) {
      came.release(); // nothing that follows is answered
      return;
    }
    ByteBuf all = joined(context, came);
    try {
      for (List<byte[]> words = wire.next(all); words != null; words = wire.next(all)) {
        if (!words.isEmpty()) {
          hub.commands.increment();
          answers.add(new Answer(take(known, new Arguments(words)), known.protocol));
        }
        if (known.isEnding) {
          break;
        }
      }
    } catch (Wire.ProtocolException e) {
      Reply reply = new Reply.Failure("ERR Protocol error: " + e.getMessage());
      answers.add(new Answer(() -> reply, known.protocol));
      known.isEnding = true;
    }
    if (all.isReadable() && !known.isEnding) {
      rest = all;
    } else {
      all.release();
    }
    if (!answers.isEmpty()) {
      commits.afterNext(() -> answer(context, known));
    }
  }

  private ByteBuf joined(ChannelHandlerContext context, ByteBuf came) {
    ByteBuf before = rest;
    if (before == null) {
      return came;
    }
    rest = null;
    ByteBuf all = context.alloc().buffer(before.readableBytes() + came.readableBytes());
    all.writeBytes(before).writeBytes(came);
    before.release();
    came.release();
    return all;
  }

  /** Does a command, or has it done with the next commit. */
  private Supplier<Reply> take(Session known, Arguments words) {
    Optional<RespCommand> found = RespCommands.find(words.text(0));
    if (found.isEmpty() && words.word(0).matches("POST|HOST:")) {
      known.isEnding = true; // a page in a browser talks HTTP to this port, or means to do harm
      return now(new Reply.Failure("ERR this port speaks Redis, not HTTP"));
    }
    if (found.isEmpty()) {
      known.spoil();
      return now(unknown(words));
    }
    RespCommand command = found.get();
    known.lastCommand = command.name();
    if (!known.isKnown && !command.name().matches("auth|hello|quit|reset")) {
      known.spoil();
      return now(new Reply.Failure("NOAUTH Authentication required."));
    }
    if (!command.takes(words.size())) {
      known.spoil();
      return now(
          new Reply.Failure(
              "ERR wrong number of arguments for '%s' command".formatted(command.name())));
    }
    RespCommand.OnCounters onCounters = command.onCounters();
    if (known.isQueueing() && !command.name().matches(AT_ONCE)) {
      RespCommand.OnSession onSession = command.onSession();
      RespCommand.OnCounters queued =
          onSession == null ? onCounters : (turn, given) -> onSession.run(known, given);
      return now(known.queue(new CounterCall(Objects.requireNonNull(queued), words)));
    }
    if (onCounters != null) {
      CounterCall call = new CounterCall(onCounters, words);
      commits.add(call);
      return call::reply;
    }
    return onSession(known, command, words);
  }

  private static Supplier<Reply> now(Reply reply) {
    return () -> reply;
  }

  private Supplier<Reply> onSession(Session known, RespCommand command, Arguments words) {
    try {
      return switch (command.name()) {
        case "exec" -> execute(known);
        case "watch" -> watch(known, words);
        case "unwatch" -> watching(known, List.of(), Replies.OK);
        case "discard" -> {
          boolean isQueueing = known.isQueueing();
          Reply reply = known.discard();
          yield isQueueing ? watching(known, List.of(), reply) : now(reply);
        }
        case "reset" -> {
          known.reset();
          yield watching(known, List.of(), new Reply.Simple("RESET"));
        }
        default -> {
          RespCommand.OnSession does = command.onSession();
          if (does == null) {
            throw new IllegalStateException("nothing to do for " + command.name());
          }
          yield now(does.run(known, words));
        }
      };
    } catch (Arguments.Refused e) {
      return now(new Reply.Failure(String.valueOf(e.getMessage())));
    }
  }

  private Supplier<Reply> execute(Session known) {
    if (!known.isQueueing()) {
      return now(new Reply.Failure("ERR EXEC without MULTI"));
    }
    Transactions.Exec exec = new Transactions.Exec(known, known.end());
    commits.add(exec);
    return exec::reply;
  }

  private Supplier<Reply> watch(Session known, Arguments words) {
    if (known.isQueueing()) {
      return now(new Reply.Failure("ERR WATCH inside MULTI is not allowed"));
    }
    List<String> counters = new ArrayList<>();
    for (int i = 1; i < words.size(); i++) {
      counters.add(words.key(i));
    }
    return watching(known, counters, Replies.OK);
  }

  private Supplier<Reply> watching(Session known, List<String> counters, Reply reply) {
    commits.add(new Transactions.Watching(known, counters));
    return now(reply);
  }

  private static Reply unknown(Arguments words) {
    StringBuilder text =
        new StringBuilder(
            "ERR unknown command '%.128s', with args beginning with: ".formatted(words.text(0)));
    for (int i = 1; i < words.size() && text.length() < 128; i++) {
      text.append("'%.128s' ".formatted(words.text(i)));
    }
    return new Reply.Failure(text.toString());
  }

  /** After the commit. */
  private void answer(ChannelHandlerContext context, Session known) {
    if (answers.isEmpty()) {
      return;
    }
    ByteBuf out = context.alloc().buffer();
    for (Answer answer : answers) {
      answer.reply.get().write(out, answer.protocol);
    }
    answers.clear();
    var written = context.writeAndFlush(out);
    if (known.isEnding) {
      written.addListener(ChannelFutureListener.CLOSE);
    }
  }

  /** A client that does not read what it asked for is not asked for more. */
  @Override
  public void channelWritabilityChanged(ChannelHandlerContext context) {
    context.channel().config().setAutoRead(context.channel().isWritable());
    context.fireChannelWritabilityChanged();
  }

  @Override
  public void userEventTriggered(ChannelHandlerContext context, Object event) {
    if (event instanceof ChannelInputShutdownEvent) {
      commits.afterNext(() ->
          context
              .writeAndFlush(Unpooled.EMPTY_BUFFER)
              .addListener(ChannelFutureListener.CLOSE)); // no more comes: what came is answered
    } else if (event instanceof IdleStateEvent && rest != null) {
      context.close(); // half a command, and then nothing
    }
    context.fireUserEventTriggered(event);
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
    context.close(); // a connection that broke has nobody to tell
  }
}
