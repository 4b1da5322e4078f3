package dev.quipu.redis;

import dev.quipu.store.Key;
import dev.quipu.store.StoreException;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.codec.Base16;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;

/**
 * The script, as a library of functions where the server has them, else by its digest. Its name
 * carries a digest of its text, so that servers of different versions of Quipu do not replace each
 * other's.
 */
final class Script {
  private static final String BODY = body();
  private static final String ID =
      HexFormat.of().formatHex(Key.digest(BODY.getBytes(StandardCharsets.UTF_8))).substring(0, 12);
  private static final Entry WRITE = new Entry("write");
  private static final Entry READ = new Entry("read");
  private static final Entry SCAN = new Entry("scan");
  private static final List<Entry> ENTRIES = List.of(WRITE, READ, SCAN);
  private static final int LOADS_MAX = 3; // a failover may lose what was just loaded

  private final Link link;
  private final boolean functions;

  /** Loads it on every master. */
  Script(Link link) {
    this.link = link;
    this.functions = load();
  }

  /** One function of the script, and the same as a script by itself. */
  private record Entry(String name, String function, String text, String digest) {
    Entry(String name) {
      this(name, BODY + "return " + name + "(KEYS, ARGV)\n");
    }

    private Entry(String name, String text) {
      this(
          name,
          "quipu_" + name + "_" + ID,
          text,
          Base16.digest(text.getBytes(StandardCharsets.UTF_8)));
    }

    String registration() {
      return "redis.register_function('%s', %s)\n".formatted(function, name);
    }
  }

  /** The library, for who loads it by hand. */
  static String library() {
    StringBuilder library = new StringBuilder("#!lua name=quipu_" + ID + "\n" + BODY);
    ENTRIES.forEach(entry -> library.append(entry.registration()));
    return library.toString();
  }

  private static String body() {
    try (InputStream from = Script.class.getResourceAsStream("items.lua")) {
      if (from == null) {
        throw new IllegalStateException("items.lua is not beside " + Script.class);
      }
      return new String(from.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  List<Object> write(List<String> keys, List<String> arguments) {
    return call(WRITE, keys, arguments, false);
  }

  List<Object> read(List<String> keys) {
    return call(READ, keys, List.of(), true);
  }

  List<Object> scan(String index, List<String> arguments) {
    return call(SCAN, List.of(index), arguments, true);
  }

  private List<Object> call(
      Entry entry, List<String> keys, List<String> arguments, boolean isRead) {
    String[] names = keys.toArray(String[]::new);
    String[] values = arguments.toArray(String[]::new);
    for (int load = 0; ; load++) {
      try {
        Link.Call<List<Object>> call =
            functions
                ? commands ->
                    commands.fcall(entry.function(), ScriptOutputType.MULTI, names, values)
                : commands ->
                    commands.evalsha(entry.digest(), ScriptOutputType.MULTI, names, values);
        return isRead ? link.read(call) : link.write(call);
      } catch (StoreException e) {
        if (!isUnknownScript(e) || load == LOADS_MAX) {
          throw e;
        }
        load();
      }
    }
  }

  /** Whether a node does not know the script, and so did nothing. */
  private static boolean isUnknownScript(StoreException e) {
    String message = message(e);
    return message.startsWith("noscript") || message.contains("function not found");
  }

  private static String message(StoreException e) {
    return e.getCause() instanceof RedisCommandExecutionException refused
        ? String.valueOf(refused.getMessage()).toLowerCase(Locale.ROOT)
        : "";
  }

  /** Loads it everywhere; tells whether the servers have functions. */
  private boolean load() {
    try {
      link.onEachMaster(commands -> commands.functionLoad(library(), true));
      return true;
    } catch (StoreException e) {
      String message = message(e);
      boolean old = message.contains("unknown command") || message.contains("no permissions");
      if (!old) {
        throw e;
      }
      ENTRIES.forEach(entry -> link.onEachMaster(commands -> commands.scriptLoad(entry.text())));
      return false;
    }
  }
}
