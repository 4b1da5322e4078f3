package dev.quipu.server.memcache;

import dev.quipu.engine.CounterTurn;
import dev.quipu.server.memcache.Line.Refused;
import dev.quipu.server.net.Batch;
import dev.quipu.server.net.Flush;
import dev.quipu.server.net.Front;
import dev.quipu.server.net.Step;
import dev.quipu.server.net.StoredText;
import io.netty.buffer.ByteBuf;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The memcached protocol on one connection. */
final class MemcacheFront implements Front {
  /** Longest line of a command. */
  static final int LINE_BYTES_MAX = 64 << 10;

  private static final Line EMPTY = new Line(new byte[0]);

  private final MemcacheHub hub;
  private boolean isKnown;
  private boolean isEnding;
  private @Nullable MemcacheCommand command; // whose data is awaited
  private Line line = EMPTY;
  private int length; // of the data
  private long skipping; // data that is not wanted

  MemcacheFront(MemcacheHub hub) {
    this.hub = hub;
    this.isKnown = hub.token().isEmpty();
    hub.connected().incrementAndGet();
    hub.accepted().increment();
  }

  /** An answer that is known already. */
  private record Said(String line) implements Step {
    @Override
    public int bytesMax(CounterTurn turn) {
      return 0;
    }

    @Override
    public void run(CounterTurn turn, ByteBuf out) {
      Request.line(out, line);
    }

    @Override
    public void failed(RuntimeException why, ByteBuf out) {
      Request.line(out, line);
    }
  }

  /** {@code flush_all}. */
  private static final class Flushing implements Step {
    private final boolean isQuiet;
    private boolean isDone;

    Flushing(boolean isQuiet) {
      this.isQuiet = isQuiet;
    }

    @Override
    public int bytesMax(CounterTurn turn) {
      return Flush.bytesMax();
    }

    @Override
    public void run(CounterTurn turn, ByteBuf out) {
      isDone = true; // also if it throws
      String answer = "OK";
      try {
        isDone = Flush.part(turn);
      } catch (RuntimeException e) {
        answer = "SERVER_ERROR " + e.getMessage();
      }
      if (isDone && !isQuiet) {
        Request.line(out, answer);
      }
    }

    @Override
    public boolean isDone() {
      return isDone;
    }

    @Override
    public void failed(RuntimeException why, ByteBuf out) {
      Request.line(out, "SERVER_ERROR UNKNOWN " + why.getMessage());
    }
  }

  @Override
  public boolean isEnding() {
    return isEnding;
  }

  @Override
  public void closed(Batch last) {
    hub.connected().decrementAndGet();
  }

  @Override
  public boolean next(ByteBuf in, Batch batch) {
    if (skipping > 0) {
      int gone = (int) Math.min(skipping, in.readableBytes());
      in.skipBytes(gone);
      skipping -= gone;
      return gone > 0;
    }
    MemcacheCommand waiting = command;
    if (waiting != null) {
      return data(waiting, in, batch);
    }
    int most = Math.min(in.readableBytes(), LINE_BYTES_MAX + 2);
    int end = in.indexOf(in.readerIndex(), in.readerIndex() + most, (byte) '\n');
    if (end < 0) {
      if (most > LINE_BYTES_MAX) {
        isEnding = true;
        batch.add(new Said("CLIENT_ERROR line too long"));
      }
      return false;
    }
    byte[] bytes = new byte[end - in.readerIndex()];
    in.readBytes(bytes).skipBytes(1);
    boolean hasReturn = bytes.length > 0 && bytes[bytes.length - 1] == '\r';
    line = new Line(hasReturn ? Arrays.copyOf(bytes, bytes.length - 1) : bytes);
    hub.commands().increment();
    take(batch);
    return true;
  }

  private void take(Batch batch) {
    String name = line.size() == 0 ? "" : line.text(0);
    MemcacheCommand found = MemcacheCommands.find(name);
    if (found == null) {
      // A page in a browser talks HTTP to this port, or means to do harm.
      isEnding |= name.equals("POST") || name.equals("Host:");
      batch.add(new Said("ERROR"));
      return;
    }
    if (found.name().equals("quit")) {
      isEnding = true;
      return;
    }
    boolean isQuiet = found.knowsNoReply() && line.text(line.size() - 1).equals("noreply");
    int words = line.size() - (isQuiet ? 1 : 0);
    if (words < found.wordsMin() || words > found.wordsMax()) {
      boolean isHalfMeta = found.name().equals("ms") && words == 2;
      batch.add(new Said(isHalfMeta ? Line.BAD_FORMAT : "ERROR"));
    } else if (found.lengthAt() > 0) {
      begin(found, batch);
    } else if (!isKnown) {
      batch.add(new Said("CLIENT_ERROR unauthenticated"));
    } else if (found.name().equals("flush_all") && hub.mayFlush()) {
      boolean isNow = words == 1 || line.text(1).equals("0");
      batch.add(isNow ? new Flushing(isQuiet) : new Said("CLIENT_ERROR flush_all takes no delay"));
    } else {
      batch.add(new Request(found, line, new byte[0], hub));
    }
  }

  /** Begins a command whose data follows. */
  private void begin(MemcacheCommand found, Batch batch) {
    long wanted;
    try {
      wanted = line.number(found.lengthAt());
    } catch (Refused e) {
      wanted = -1;
    }
    if (wanted < 0 || wanted > Integer.MAX_VALUE) {
      batch.add(new Said(Line.BAD_FORMAT));
    } else if (wanted > StoredText.BYTES_MAX) {
      skipping = wanted + 2;
      batch.add(new Said(TextCommands.TOO_LARGE));
    } else {
      command = found;
      length = (int) wanted;
    }
  }

  private boolean data(MemcacheCommand waiting, ByteBuf in, Batch batch) {
    if (in.readableBytes() < length + 2) {
      return false;
    }
    byte[] data = new byte[length];
    in.readBytes(data);
    command = null;
    if (in.getShort(in.readerIndex()) != ('\r' << 8 | '\n')) {
      // Where the next command begins is anybody's guess; memcached takes the rest of the line.
      int end = in.indexOf(in.readerIndex(), in.writerIndex(), (byte) '\n');
      in.readerIndex(end < 0 ? in.writerIndex() : end + 1);
      batch.add(new Said("CLIENT_ERROR bad data chunk"));
      return true;
    }
    in.skipBytes(2);
    if (!isKnown) {
      isKnown = waiting.name().equals("set") && isToken(data);
      batch.add(new Said(isKnown ? "STORED" : "CLIENT_ERROR authentication failure"));
    } else {
      batch.add(new Request(waiting, line, data, hub));
    }
    return true;
  }

  /** Whether somebody shows the token: a user, which is not looked at, a space and the token. */
  private boolean isToken(byte[] data) {
    String shown = new String(data, StandardCharsets.UTF_8);
    Optional<String> wanted = hub.token();
    return wanted.isPresent()
        && MessageDigest.isEqual(
            wanted.get().getBytes(StandardCharsets.UTF_8),
            shown.substring(shown.indexOf(' ') + 1).getBytes(StandardCharsets.UTF_8));
  }
}
