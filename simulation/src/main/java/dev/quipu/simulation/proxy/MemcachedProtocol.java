package dev.quipu.simulation.proxy;

import java.io.IOException;
import java.io.InputStream;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The text and meta commands of memcached. */
public final class MemcachedProtocol implements Protocol {
  private static final Set<String> STORES =
      Set.of("set", "add", "replace", "append", "prepend", "cas");
  private static final Set<String> READS = Set.of("get", "gets", "mg");
  private static final Set<String> OTHER_WRITES =
      Set.of("incr", "decr", "delete", "touch", "ma", "md", "flush_all");

  /** Creates the protocol. */
  public MemcachedProtocol() {}

  @Override
  public Session open() {
    return new MemcachedSession();
  }

  private static final class MemcachedSession implements Session {
    @Override
    public @Nullable Request read(InputStream client) throws IOException {
      Wire wire = new Wire(client);
      String line = wire.line();
      if (line == null) {
        return null;
      }
      String[] words = line.split(" ", -1);
      if (STORES.contains(words[0])) {
        wire.take(Integer.parseInt(words[4]) + 2);
      } else if (words[0].equals("ms")) {
        wire.take(Integer.parseInt(words[2]) + 2);
      }
      return new Request(wire.kept(), wire.kept(), kind(words[0]));
    }

    private static Kind kind(String command) {
      if (READS.contains(command)) {
        return Kind.READ;
      }
      boolean writes =
          STORES.contains(command) || OTHER_WRITES.contains(command) || command.equals("ms");
      return writes ? Kind.WRITE : Kind.OTHER;
    }

    @Override
    public byte[] reply(Request request, InputStream store) throws IOException {
      String command = Wire.latin1(request.bytes()).split("[ \r]", 2)[0];
      Wire wire = new Wire(store);
      if (command.equals("quit")) {
        return wire.kept();
      }
      boolean many = command.equals("get") || command.equals("gets") || command.startsWith("stats");
      for (String line = wire.nextLine(); ; line = wire.nextLine()) {
        String[] words = line.split(" ", -1);
        if (words[0].equals("VALUE")) {
          wire.take(Integer.parseInt(words[3]) + 2);
        } else if (words[0].equals("VA")) {
          wire.take(Integer.parseInt(words[1]) + 2);
        }
        boolean last = !many || words[0].equals("END") || words[0].endsWith("ERROR");
        if (last) {
          return wire.kept();
        }
      }
    }

    @Override
    public boolean isApplied(Request request, byte[] reply) {
      String text = Wire.latin1(reply);
      return text.matches("(?s)(STORED|DELETED|TOUCHED|OK|HD|[0-9]).*");
    }

    @Override
    public Optional<byte[]> error(WireFault fault) {
      return switch (fault) {
        case THROTTLED, ERROR_BEFORE_APPLY ->
            Optional.of(Wire.latin1("SERVER_ERROR out of memory storing object\r\n"));
        default -> Optional.empty();
      };
    }
  }
}
