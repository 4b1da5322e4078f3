package dev.quipu.redis;

import dev.quipu.Outcome;
import dev.quipu.QuipuException;
import dev.quipu.Reason;
import dev.quipu.store.Key;
import dev.quipu.store.StoreDriver.Finding;
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
import java.util.Map;
import java.util.Optional;

/**
 * The script: a function library where the server supports functions, otherwise called by its
 * digest. Its name contains a digest of its text, so that different versions of Quipu do not
 * replace each other's libraries.
 */
final class Script {
  private static final String BODY = body();
  private static final String ID =
      HexFormat.of().formatHex(Key.digest(BODY.getBytes(StandardCharsets.UTF_8))).substring(0, 12);
  private static final String READS = "no-writes"; // runs on a full server
  private static final String FREES = "allow-oom"; // so does a script that only removes
  private static final Entry WRITE = new Entry("write", "write", "");
  private static final Entry REMOVE = new Entry("remove", "write", FREES);
  private static final Entry GROUP = new Entry("group", "group", "");
  private static final Entry JUDGE = new Entry("judge", "judge", READS);
  private static final Entry READ = new Entry("read", "read", READS);
  private static final Entry SCAN = new Entry("scan", "scan", FREES);
  private static final Entry PERMIT = new Entry("permit", "permit", READS);
  private static final List<Entry> ENTRIES =
      List.of(WRITE, REMOVE, GROUP, JUDGE, READ, SCAN, PERMIT);
  private static final int LOADS_MAX = 3; // a failover may lose a new library

  private static final String NAME = "quipu_" + ID;

  private final RedisConnection link;
  private volatile boolean functions;

  /** Loads the script on every master. */
  Script(RedisConnection link) {
    this.link = link;
    this.functions = load();
  }

  /**
   * A function of the script, and the same as a stand-alone script.
   *
   * @param lua the function in the script
   * @param flag of the function; a stand-alone script needs none: it fails at its first write
   */
  private record Entry(String function, String lua, String flag, String text, String digest) {
    Entry(String name, String lua, String flag) {
      this("quipu_" + name + "_" + ID, lua, flag, BODY + "return " + lua + "(KEYS, ARGV)\n");
    }

    private Entry(String function, String lua, String flag, String text) {
      this(function, lua, flag, text, Base16.digest(text.getBytes(StandardCharsets.UTF_8)));
    }

    String registration() {
      return "redis.register_function{function_name='%s', callback=%s, flags={%s}}\n"
          .formatted(function, lua, flag.isEmpty() ? "" : "'" + flag + "'");
    }
  }

  /** Returns the library, for administrators who load it themselves. */
  static String library() {
    StringBuilder library = new StringBuilder("#!lua name=" + NAME + "\n" + BODY);
    ENTRIES.forEach(entry -> library.append(entry.registration()));
    return library.toString();
  }

  private static String body() {
    try (InputStream from = Script.class.getResourceAsStream("items.lua")) {
      if (from == null) {
        throw new IllegalStateException("items.lua is missing next to " + Script.class);
      }
      return new String(from.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * Executes writes.
   *
   * @param frees whether all writes are deletes
   */
  List<Object> write(List<String> keys, List<String> arguments, boolean frees) {
    try {
      return call(frees ? REMOVE : WRITE, keys, arguments, false);
    } catch (QuipuException e) {
      if (e.reason() != Reason.FULL || e.outcome() != Outcome.NOT_APPLIED) {
        throw e;
      }
      List<Object> answer = call(JUDGE, keys, arguments, true);
      if (answer.getFirst().equals("ok")) {
        throw e; // the conditions hold; only memory is missing
      }
      return answer;
    }
  }

  /** Executes adds of a group. */
  List<Object> group(List<String> keys, List<String> arguments) {
    return call(GROUP, keys, arguments, false);
  }

  List<Object> read(List<String> keys) {
    return call(READ, keys, List.of(), true);
  }

  List<Object> scan(String index, List<String> arguments) {
    return call(SCAN, List.of(index), arguments, true);
  }

  /**
   * Returns which required permission the user lacks: to call the script, or a command in it.
   * Writes nothing.
   *
   * @param index of a partition
   */
  Optional<Finding> obstacle(String index) {
    String answer;
    try {
      answer = (String) call(PERMIT, List.of(index, index + ":"), List.of(), true).getFirst();
    } catch (QuipuException e) {
      if (e.reason() != Reason.DENIED) {
        throw e;
      }
      answer = String.valueOf(e.getMessage());
    }
    return answer.equals("ok")
        ? Optional.empty()
        : Optional.of(
            Finding.rejectsWrites(
                "rights=missing", "grant the user the commands that Quipu calls: " + answer));
  }

  private List<Object> call(
      Entry entry, List<String> keys, List<String> arguments, boolean isRead) {
    String[] names = keys.toArray(String[]::new);
    String[] values = arguments.toArray(String[]::new);
    for (int load = 0; ; load++) {
      try {
        RedisConnection.Call<List<Object>> call =
            functions
                ? commands ->
                    commands.fcall(entry.function(), ScriptOutputType.MULTI, names, values)
                : commands ->
                    commands.evalsha(entry.digest(), ScriptOutputType.MULTI, names, values);
        return isRead ? link.read(call) : link.write(call);
      } catch (QuipuException e) {
        if (!isUnknownScript(e) || load == LOADS_MAX) {
          throw e;
        }
        functions = load();
      }
    }
  }

  /** Returns whether a node lacks the script, and so applied nothing. */
  private static boolean isUnknownScript(QuipuException e) {
    String message = message(e);
    return message.startsWith("noscript") || message.contains("function not found");
  }

  private static String message(QuipuException e) {
    return e.getCause() instanceof RedisCommandExecutionException rejected
        ? String.valueOf(rejected.getMessage()).toLowerCase(Locale.ROOT)
        : "";
  }

  /** Loads the script where it is missing; returns whether the servers support functions. */
  private boolean load() {
    try {
      List<List<Map<String, Object>>> loaded =
          link.onEachMaster(commands -> commands.functionList(NAME));
      if (loaded.stream().anyMatch(List::isEmpty)) { // a full server rejects a reload
        link.onEachMaster(commands -> commands.functionLoad(library(), true));
      }
      return true;
    } catch (QuipuException e) {
      String message = message(e);
      boolean hasNone = message.contains("unknown command") || message.contains("no permissions");
      if (!hasNone && e.reason() != Reason.FULL) {
        throw e;
      }
      ENTRIES.forEach(entry -> link.onEachMaster(commands -> commands.scriptLoad(entry.text())));
      return false;
    }
  }
}
