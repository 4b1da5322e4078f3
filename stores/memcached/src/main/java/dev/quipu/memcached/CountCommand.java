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
 * {@code incr} and {@code decr} as memcached means them. The client's own command drops the
 * connection at a number above 2^63 - 1, and cannot tell a miss: it stores a first value instead.
 */
final class CountCommand extends Command {
  /** In the place of a first value: a miss is to be told, as a {@link Miss}. */
  static final long TELL_A_MISS = -1;

  private static final String CREATE = "createIncrDecrCommand";
  private static final String NOT_FOUND = "NOT_FOUND";

  private final String line;
  private final boolean tellsMisses;

  /** The key is not there. */
  static final class Miss extends MemcachedClientException {
    private static final long serialVersionUID = 1;

    Miss() {
      super(NOT_FOUND);
    }
  }

  private CountCommand(String key, byte[] keyBytes, CommandType type, long delta, long first) {
    super(key, keyBytes, type, new CountDownLatch(1));
    this.line = "%s %s %s\r\n".formatted(type.name().toLowerCase(Locale.ROOT), key, delta);
    this.tellsMisses = first == TELL_A_MISS;
  }

  /** The client's text protocol, but for these two commands. */
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

  /** By the arguments of the factory: key, its bytes, delta, first value, expiry, type, noreply. */
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
    String answer = ByteUtils.nextLine(buffer);
    if (answer == null) {
      return false; // the rest is still to come
    }
    if (!answer.isEmpty() && Character.isDigit(answer.charAt(0))) {
      setResult(Long.parseUnsignedLong(answer.strip()));
    } else if (!answer.equals(NOT_FOUND)) {
      return decodeError(answer);
    } else if (tellsMisses) {
      setException(new Miss());
    } else {
      setResult(NOT_FOUND); // the client stores the first value
    }
    countDownLatch();
    return true;
  }
}
