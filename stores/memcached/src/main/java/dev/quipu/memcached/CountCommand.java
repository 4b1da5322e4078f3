package dev.quipu.memcached;

import com.google.code.yanf4j.buffer.IoBuffer;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import net.rubyeye.xmemcached.CommandFactory;
import net.rubyeye.xmemcached.command.Command;
import net.rubyeye.xmemcached.command.CommandType;
import net.rubyeye.xmemcached.command.TextCommandFactory;
import net.rubyeye.xmemcached.exception.MemcachedClientException;
import net.rubyeye.xmemcached.impl.MemcachedTCPSession;
import net.rubyeye.xmemcached.utils.ByteUtils;

/**
 * The commands {@code incr} and {@code decr} of memcached. Those of the client close the connection
 * at a number above 2^63 - 1, and do not report a miss: they store an initial value instead.
 */
final class CountCommand extends Command {
  /** Passed as the initial value: throw {@link Miss} if the key is missing. */
  static final long REPORT_MISS = -1;

  private static final String CREATE = "createIncrDecrCommand";
  private static final String NOT_FOUND = "NOT_FOUND";

  private final String line;
  private final boolean reportsMisses;

  /** Thrown if the key is missing. */
  static final class Miss extends MemcachedClientException {
    private static final long serialVersionUID = 1;

    Miss() {
      super(NOT_FOUND);
    }
  }

  private CountCommand(String key, byte[] keyBytes, CommandType type, long delta, long initial) {
    super(key, keyBytes, type, new CountDownLatch(1));
    this.line = "%s %s %s\r\n".formatted(type.name().toLowerCase(Locale.ROOT), key, delta);
    this.reportsMisses = initial == REPORT_MISS;
  }

  /** Returns the client's text protocol with these two commands replaced. */
  static CommandFactory factory() {
    CommandFactory text = new TextCommandFactory();
    return (CommandFactory)
        Proxy.newProxyInstance(
            CommandFactory.class.getClassLoader(),
            new Class<?>[] {CommandFactory.class},
            (proxy, method, arguments) -> {
              if (method.getName().equals(CREATE)) {
                return of(Objects.requireNonNull(arguments));
              }
              try {
                return method.invoke(text, arguments);
              } catch (InvocationTargetException e) {
                throw e.getTargetException();
              }
            });
  }

  /** Arguments of the factory: key, its bytes, delta, initial value, expiry, type, noreply. */
  private static Command of(Object... arguments) {
    return new CountCommand(
        (String) arguments[0],
        (byte[]) arguments[1],
        (CommandType) arguments[5],
        (Long) arguments[2],
        (Long) arguments[3]);
  }

  @Override
  public void encode() {
    ioBuffer = IoBuffer.wrap(line.getBytes(StandardCharsets.UTF_8));
  }

  @Override
  public boolean decode(MemcachedTCPSession session, ByteBuffer buffer) {
    String reply = ByteUtils.nextLine(buffer);
    if (reply == null) {
      return false; // the line is incomplete
    }
    if (!reply.isEmpty() && Character.isDigit(reply.charAt(0))) {
      setResult(Long.parseUnsignedLong(reply.strip()));
    } else if (!reply.equals(NOT_FOUND)) {
      return decodeError(reply);
    } else if (reportsMisses) {
      setException(new Miss());
    } else {
      setResult(NOT_FOUND); // the client stores the initial value
    }
    countDownLatch();
    return true;
  }
}
