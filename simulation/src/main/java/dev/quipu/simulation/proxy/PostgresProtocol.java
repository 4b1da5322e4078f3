package dev.quipu.simulation.proxy;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * PostgreSQL's protocol 3: a request is all messages up to a sync or a simple query, a reply all
 * messages up to "ready for query". A write is an autocommit statement, or a commit of a
 * transaction with writes.
 */
public final class PostgresProtocol implements Protocol {
  private static final int SSL_REQUEST = 80_877_103;
  private static final int GSS_REQUEST = 80_877_104;
  private static final int MESSAGE_BYTES_MAX = 64 << 20;

  /** Creates the protocol. */
  public PostgresProtocol() {}

  @Override
  public Session open() {
    return new PostgresSession();
  }

  private static final class PostgresSession implements Session {
    private final Map<String, String> statements = new HashMap<>();
    private final ByteArrayOutputStream transaction = new ByteArrayOutputStream();
    private boolean isGreeted;
    private boolean isInTransaction;
    private boolean hasWritten;
    private boolean asksForEncryption;

    @Override
    public @Nullable Request read(InputStream client) throws IOException {
      return isGreeted ? readQuery(client) : readGreeting(client);
    }

    private @Nullable Request readGreeting(InputStream client) throws IOException {
      Wire wire = new Wire(client);
      int first = wire.read();
      if (first < 0) {
        return null;
      }
      if (first == 'p') { // a password, or a step of SCRAM
        body(wire);
      } else {
        byte[] rest = wire.take(3);
        int length = ByteBuffer.wrap(new byte[] {(byte) first, rest[0], rest[1], rest[2]}).getInt();
        int code = ByteBuffer.wrap(wire.take(checked(length) - 4)).getInt();
        asksForEncryption = code == SSL_REQUEST || code == GSS_REQUEST;
      }
      return new Request(wire.kept(), wire.kept(), Kind.OTHER);
    }

    private @Nullable Request readQuery(InputStream client) throws IOException {
      Wire wire = new Wire(client);
      List<String> executed = new ArrayList<>();
      while (true) {
        int type = wire.read();
        if (type < 0) {
          return null;
        }
        byte[] body = body(wire);
        switch (type) {
          case 'P' -> statements.put(text(body, 0), text(body, text(body, 0).length() + 1));
          case 'B' -> {
            String name = text(body, text(body, 0).length() + 1);
            executed.add(statements.getOrDefault(name, ""));
          }
          case 'Q' -> executed.addAll(List.of(text(body, 0).split(";", -1)));
          default -> {
            // describe, execute, close, sync: the statement is known
          }
        }
        if (type == 'S' || type == 'Q' || type == 'X') {
          return request(wire.kept(), executed);
        }
      }
    }

    private Request request(byte[] bytes, List<String> executed) {
      boolean begins = executed.stream().anyMatch(sql -> starts(sql, "BEGIN"));
      boolean commits = executed.stream().anyMatch(sql -> starts(sql, "COMMIT"));
      boolean writes =
          executed.stream()
              .anyMatch(
                  sql -> starts(sql, "INSERT") || starts(sql, "UPDATE") || starts(sql, "DELETE"));
      if (begins) {
        transaction.reset();
        hasWritten = false;
      }
      transaction.writeBytes(bytes);
      hasWritten |= writes;
      if (begins || (isInTransaction && !commits)) {
        return new Request(bytes, bytes, Kind.OTHER);
      }
      if (commits) {
        return new Request(bytes, transaction.toByteArray(), hasWritten ? Kind.WRITE : Kind.OTHER);
      }
      boolean reads = executed.stream().anyMatch(sql -> starts(sql, "SELECT"));
      return new Request(bytes, bytes, writes ? Kind.WRITE : reads ? Kind.READ : Kind.OTHER);
    }

    private static boolean starts(String sql, String word) {
      return sql.stripLeading().toUpperCase(Locale.ROOT).startsWith(word);
    }

    @Override
    public byte[] reply(Request request, InputStream store) throws IOException {
      Wire wire = new Wire(store);
      if (asksForEncryption) {
        asksForEncryption = false;
        wire.take(1);
        return wire.kept();
      }
      if (request.bytes()[0] == 'X') {
        return wire.kept();
      }
      while (true) {
        int type = wire.take(1)[0];
        byte[] body = body(wire);
        if (type == 'Z') {
          isGreeted = true;
          isInTransaction = body[0] != 'I';
          return wire.kept();
        }
        boolean asks =
            type == 'R' && body[3] != 0 && body[3] != 12; // 0: authenticated, 12: SCRAM is complete
        if (asks || (type == 'E' && !isGreeted)) {
          return wire.kept();
        }
      }
    }

    @Override
    public boolean isApplied(Request request, byte[] reply) {
      boolean changed = false;
      ByteBuffer messages = ByteBuffer.wrap(reply);
      while (messages.hasRemaining()) {
        byte type = messages.get();
        byte[] body = new byte[messages.getInt() - 4];
        messages.get(body);
        if (type == 'E') {
          return false;
        }
        changed |= type == 'C' && !text(body, 0).matches("(INSERT 0|UPDATE|DELETE|SELECT) 0");
      }
      return changed;
    }

    @Override
    public Optional<byte[]> error(WireFault fault) {
      return switch (fault) {
        case ERROR_BEFORE_APPLY, ERROR_AFTER_APPLY ->
            Optional.of(error("FATAL", "57P01", "injected: the server shuts down", false));
        case THROTTLED ->
            Optional.of(error("ERROR", "40001", "injected: could not serialize access", true));
        default -> Optional.empty();
      };
    }

    @Override
    public boolean endsAfter(WireFault fault) {
      return fault != WireFault.THROTTLED;
    }

    @Override
    public void abandon(OutputStream toStore, InputStream fromStore) throws IOException {
      if (isInTransaction) {
        byte[] query = Wire.latin1("ROLLBACK\0");
        toStore.write(
            ByteBuffer.allocate(query.length + 5)
                .put((byte) 'Q')
                .putInt(query.length + 4)
                .put(query)
                .array());
        reply(new Request(query, query, Kind.OTHER), fromStore);
      }
    }

    private static byte[] error(String severity, String state, String text, boolean goesOn) {
      byte[] fields =
          Wire.latin1("S%s\0V%s\0C%s\0M%s\0\0".formatted(severity, severity, state, text));
      ByteBuffer message = ByteBuffer.allocate(fields.length + 5 + (goesOn ? 6 : 0));
      message.put((byte) 'E').putInt(fields.length + 4).put(fields);
      if (goesOn) {
        message.put((byte) 'Z').putInt(5).put((byte) 'I');
      }
      return message.array();
    }

    private static byte[] body(Wire wire) throws IOException {
      int length = ByteBuffer.wrap(wire.take(4)).getInt();
      return wire.take(checked(length) - 4);
    }

    private static int checked(int length) throws IOException {
      if (length < 4 || length > MESSAGE_BYTES_MAX) {
        throw new IOException("a message of %d bytes".formatted(length));
      }
      return length;
    }

    /** Returns the NUL-terminated text that begins there. */
    private static String text(byte[] body, int start) {
      int end = start;
      while (end < body.length && body[end] != 0) {
        end++;
      }
      return new String(body, start, end - start, StandardCharsets.ISO_8859_1);
    }
  }
}
