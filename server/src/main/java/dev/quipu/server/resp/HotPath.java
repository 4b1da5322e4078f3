package dev.quipu.server.resp;

import dev.quipu.engine.CounterTurn;
import dev.quipu.server.net.Batch;
import dev.quipu.server.net.Step;
import io.netty.buffer.ByteBuf;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/*
 * INCR, DECR, INCRBY, DECRBY and GET, sent as clients send them, of a counter that there is: nearly
 * all that a server of counters ever hears. No word of these becomes an object. Whatever is not
 * just so goes the usual way, which gives the same answers: here is only what is quick.
 */

/** Takes the usual commands off the wire. Lives on the connection's event loop. */
final class HotPath {
  private static final long TWO_WORDS_OF_4 = 0x2a320d0a24340d0aL; // *2 $4, with ends of lines
  private static final long TWO_WORDS_OF_3 = 0x2a320d0a24330d0aL;
  private static final long THREE_WORDS_OF_6 = 0x2a330d0a24360d0aL;
  private static final int INCR = 0x494e4352;
  private static final int DECR = 0x44454352;
  private static final int GET = 0x474554; // in three bytes
  private static final int BY = 0x4259; // in two
  private static final int UPPER = 0xdfdfdfdf;
  private static final int NAME_BYTES_MAX = 127;
  private static final int DIGITS_MAX = 17; // no overflow while they are read

  private byte[] names = new byte[1 << 10];
  private int namesEnd;
  private final List<Hot> steps = new ArrayList<>();
  private int used;
  private @Nullable Batch filling;

  /** One of the commands; is used again when the batch was answered. */
  private final class Hot implements Step {
    private boolean reads;
    private long delta;
    private int from;
    private int length;
    private int protocol;

    @Override
    public int bytesMax(CounterTurn turn) {
      return reads ? 0 : CounterTurn.bytesMax(1, length);
    }

    @Override
    public void run(CounterTurn turn, ByteBuf out) {
      int place = turn.placeOf(names, from, length);
      if (place < 0) {
        usual().run(turn, out);
      } else if (reads) {
        long value = turn.valueAt(place);
        Wire.number(out, '$', Wire.digits(value));
        Wire.number(out, value);
      } else {
        try {
          if (turn.addAt(place, delta)) {
            Wire.number(out, ':', turn.valueAt(place));
          } else {
            usual().run(turn, out);
          }
        } catch (RuntimeException e) {
          Answered.failure(e).write(out, 2);
        }
      }
    }

    @Override
    public void failed(RuntimeException why, ByteBuf out) {
      Answered.failure(why).write(out, 2);
    }

    private Step usual() {
      byte[] name = Arrays.copyOfRange(names, from, from + length);
      return new Answered(
          reads ? CounterCommands.get(name) : CounterCommands.add(name, delta), protocol);
    }
  }

  /** Takes a command, if it is one of these and is there wholly. */
  boolean take(ByteBuf in, Batch batch, int protocol) {
    int at = in.readerIndex();
    int end = in.writerIndex();
    if (end - at < 20) {
      return false;
    }
    long head = in.getLong(at);
    boolean reads = head == TWO_WORDS_OF_3;
    long sign;
    if (head == TWO_WORDS_OF_4 || head == THREE_WORDS_OF_6) {
      int verb = in.getInt(at + 8) & UPPER;
      sign = verb == INCR ? 1 : verb == DECR ? -1 : 0;
      at += 12;
    } else if (reads && (in.getMedium(at + 8) & UPPER & 0xffffff) == GET) {
      sign = 1;
      at += 11;
    } else {
      return false;
    }
    boolean hasNumber = head == THREE_WORDS_OF_6;
    if (hasNumber) {
      if ((in.getShort(at) & UPPER & 0xffff) != BY) {
        return false;
      }
      at += 2;
    }
    if (sign == 0 || in.getShort(at) != Wire.CRLF) {
      return false;
    }
    return word(in, at + 2, end, batch, reads, sign, hasNumber, protocol);
  }

  private boolean word(
      ByteBuf in,
      int start,
      int end,
      Batch batch,
      boolean reads,
      long sign,
      boolean hasNumber,
      int protocol) {
    int at = start;
    int length = length(in, at, end);
    if (length < 1 || length > NAME_BYTES_MAX) {
      return false;
    }
    at += length < 10 ? 4 : length < 100 ? 5 : 6;
    int from = at;
    at += length + 2;
    if (at > end) {
      return false;
    }
    long delta = sign;
    if (hasNumber) {
      int digits = length(in, at, end);
      if (digits < 1 || digits > DIGITS_MAX) {
        return false;
      }
      at += digits < 10 ? 4 : 5;
      if (at + digits + 2 > end) {
        return false;
      }
      delta = sign * number(in, at, digits);
      at += digits + 2;
    }
    if (delta == 0) {
      return false; // also what is no number
    }
    Hot step = next(batch);
    step.reads = reads;
    step.delta = delta;
    step.protocol = protocol;
    step.from = keep(in, from, length);
    step.length = length;
    batch.add(step);
    in.readerIndex(at);
    return true;
  }

  /** The length in a head like $12 and its line's end; -1 if it is not there or is larger. */
  private static int length(ByteBuf in, int at, int end) {
    if (at + 6 > end || in.getByte(at) != '$') {
      return -1;
    }
    int length = 0;
    for (int i = at + 1; i < at + 4; i++) {
      int digit = in.getByte(i) - '0';
      if (digit < 0 || digit > 9) {
        return i > at + 1 && in.getShort(i) == Wire.CRLF ? length : -1;
      }
      length = 10 * length + digit;
    }
    return in.getShort(at + 4) == Wire.CRLF ? length : -1;
  }

  /** A positive number without zeros ahead; 0 for anything else. */
  private static long number(ByteBuf in, int at, int digits) {
    long value = 0;
    for (int i = at; i < at + digits; i++) {
      int digit = in.getByte(i) - '0';
      if (digit < 0 || digit > 9 || (i == at && digit == 0)) {
        return 0;
      }
      value = 10 * value + digit;
    }
    return value;
  }

  private Hot next(Batch batch) {
    if (batch != filling) {
      filling = batch;
      used = 0;
      namesEnd = 0;
    }
    if (used == steps.size()) {
      steps.add(new Hot());
    }
    return steps.get(used++);
  }

  private int keep(ByteBuf in, int from, int length) {
    if (namesEnd + length > names.length) {
      names = Arrays.copyOf(names, Math.max(2 * names.length, namesEnd + length));
    }
    in.getBytes(from, names, namesEnd, length);
    namesEnd += length;
    return namesEnd - length;
  }
}
