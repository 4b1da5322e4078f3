package dev.quipu.server.resp.command;

import dev.quipu.engine.CounterAccess;
import dev.quipu.engine.Durability;
import dev.quipu.server.resp.key.Arguments;
import dev.quipu.server.resp.key.Glob;
import dev.quipu.server.resp.session.Collected;
import dev.quipu.server.resp.session.Session;
import dev.quipu.server.resp.session.SharedState;
import dev.quipu.server.resp.wire.Replies;
import dev.quipu.server.resp.wire.Reply;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** Commands on the connection and the server. */
final class SessionCommands {
  /** The compatible Redis version, which clients check. */
  static final String LIKE_REDIS = "7.4.0";

  private static final Set<String> ALL_SECTIONS = Set.of("all", "default", "everything");

  private SessionCommands() {}

  static List<RespCommand> all() {
    return List.of(
        RespCommand.of("ping", "[message]")
            .summary("Returns PONG or the message.")
            .onSession((session, words) ->
                switch (words.size()) {
                  case 1 -> new Reply.Simple("PONG");
                  case 2 -> new Reply.Bulk(words.bytes(1));
                  default -> new Reply.Failure("ERR wrong number of arguments for 'ping' command");
                }),
        RespCommand.of("echo", "message")
            .summary("Returns the message.")
            .onSession((session, words) -> new Reply.Bulk(words.bytes(1))),
        RespCommand.of("quit", "")
            .summary("Closes the connection.")
            .arity(-1)
            .onSession((session, words) -> {
              session.isEnding = true;
              return Replies.OK;
            }),
        RespCommand.of("hello", "[2 | 3 [AUTH user token] [SETNAME name]]")
            .summary("Selects the protocol; optionally authenticates and names the connection.")
            .onSession(SessionCommands::hello),
        RespCommand.of("auth", "[user] token")
            .summary("Authenticates the connection with a token.")
            .onSession(SessionCommands::authenticate),
        RespCommand.of("select", "0")
            .summary("Selects database 0, the only one.")
            .onSession((session, words) ->
                words.number(1) == 0
                    ? Replies.OK
                    : new Reply.Failure("ERR DB index is out of range")),
        RespCommand.of("client", "subcommand")
            .summary("SETINFO, SETNAME, GETNAME, ID, INFO, LIST, NO-EVICT, NO-TOUCH.")
            .arity(-2)
            .onEngine((session, words) -> counters -> client(session, words)),
        RespCommand.of("command", "[COUNT | DOCS | INFO | LIST]")
            .summary("Describes commands.")
            .onEngine((session, words) -> counters -> command(words)),
        RespCommand.of("config", "GET pattern")
            .summary("Returns the values of settings.")
            .arity(-2)
            .onEngine((session, words) -> counters -> config(session, counters, words)),
        RespCommand.of("info", "[section]")
            .summary("Returns information and statistics about the server.")
            .onEngine((session, words) -> counters -> info(session, counters, words)),
        RespCommand.of("time", "")
            .summary("Returns the server time: seconds and microseconds.")
            .onSession((session, words) -> {
              long millis = session.shared.clock().epochMillis();
              return new Reply.Several(
                  List.of(
                      Reply.bulk(Long.toString(millis / 1_000)),
                      Reply.bulk(Long.toString(millis % 1_000 * 1_000))));
            }));
  }

  /** Returns the equivalent settings of Redis. */
  private static Map<String, String> settings(Durability durability) {
    String sync =
        switch (durability) {
          case Durability.Fsync always -> "always";
          case Durability.Interval interval -> "everysec";
          case Durability.None none -> "no";
        };
    return new TreeMap<>(
        Map.of(
            "appendfsync", sync,
            "appendonly", "yes",
            "databases", "1",
            "maxmemory", "0",
            "maxmemory-policy", "noeviction",
            "save", ""));
  }

  private static Reply hello(Session session, Arguments words) {
    int protocol = session.protocol;
    if (words.size() > 1) {
      long wanted;
      try {
        wanted = words.number(1);
      } catch (Arguments.Rejected e) {
        return new Reply.Failure("ERR Protocol version is not an integer or out of range");
      }
      if (wanted != 2 && wanted != 3) {
        return new Reply.Failure("NOPROTO unsupported protocol version");
      }
      protocol = (int) wanted;
    }
    String name = session.name;
    int token = 0; // its index
    for (int i = 2; i < words.size(); i++) {
      if (words.word(i).equals("AUTH") && i + 2 < words.size()) {
        token = i + 2;
        i += 2;
      } else if (words.word(i).equals("SETNAME") && i + 1 < words.size()) {
        name = words.text(++i);
        if (!Session.isPlain(name)) {
          return badName();
        }
      } else {
        return new Reply.Failure("ERR Syntax error in HELLO option '" + words.text(i) + "'");
      }
    }
    if (token != 0 && !session.authenticate(words.text(token))) {
      return wrongPassword();
    }
    if (!session.isAuthenticated) {
      return new Reply.Failure(
          "NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO"
              + " <proto> AUTH <user> <pass> option can be used to authenticate the client and"
              + " select the RESP protocol version at the same time");
    }
    session.protocol = protocol;
    session.name = name;
    return new Reply.Pairs(
        List.of(
            Reply.bulk("server"), Reply.bulk("redis"),
            Reply.bulk("version"), Reply.bulk(LIKE_REDIS),
            Reply.bulk("proto"), new Reply.Number(protocol),
            Reply.bulk("id"), new Reply.Number(session.id),
            Reply.bulk("mode"), Reply.bulk("standalone"),
            Reply.bulk("role"), Reply.bulk("master"),
            Reply.bulk("modules"), new Reply.Several(List.of())));
  }

  private static Reply wrongPassword() {
    return new Reply.Failure("WRONGPASS invalid username-password pair or user is disabled.");
  }

  private static Reply badName() {
    return new Reply.Failure(
        "ERR Client names cannot contain spaces, newlines or special characters.");
  }

  private static Reply authenticate(Session session, Arguments words) {
    if (words.size() > 3) {
      return new Reply.Failure(Arguments.SYNTAX);
    }
    if (session.shared.options().token().isEmpty() && words.size() == 2) {
      return new Reply.Failure(
          "ERR AUTH <password> called without any password configured for the default user. Are"
              + " you sure your configuration is correct?");
    }
    boolean isDefault = words.size() == 2 || words.text(1).equals("default");
    return isDefault && session.authenticate(words.text(words.size() - 1))
        ? Replies.OK
        : wrongPassword();
  }

  private static Reply client(Session session, Arguments words) {
    Reply unknown =
        new Reply.Failure(
            "ERR unknown subcommand or wrong number of arguments for '%s'; see COMMAND DOCS client"
                .formatted(words.text(1)));
    return switch (words.word(1)) {
      case "SETINFO" -> words.size() == 4 ? setInfo(session, words) : unknown;
      case "SETNAME" -> words.size() == 3 ? setName(session, words.text(2)) : unknown;
      case "GETNAME" -> session.name.isEmpty() ? Replies.NULL : Reply.bulk(session.name);
      case "ID" -> new Reply.Number(session.id);
      case "INFO" -> new Reply.Verbatim(session.line() + "\n");
      case "LIST" -> list(session, words);
      case "NO-EVICT", "NO-TOUCH" -> Replies.OK;
      default -> unknown;
    };
  }

  private static Reply setInfo(Session session, Arguments words) {
    String field = words.word(2);
    if (!field.equals("LIB-NAME") && !field.equals("LIB-VER")) {
      return new Reply.Failure("ERR Unrecognized option '" + words.text(2) + "'");
    }
    String value = words.text(3);
    if (!Session.isPlain(value)) {
      return new Reply.Failure(
          "ERR %s cannot contain spaces, newlines or special characters."
              .formatted(field.toLowerCase(Locale.ROOT)));
    }
    if (field.equals("LIB-NAME")) {
      session.library = value;
    } else {
      session.libraryVersion = value;
    }
    return Replies.OK;
  }

  private static Reply setName(Session session, String name) {
    if (!Session.isPlain(name)) {
      return badName();
    }
    session.name = name;
    return Replies.OK;
  }

  /** Returns the lines of all connections, within the memory of this one. */
  private static Reply list(Session session, Arguments words) {
    Collected lines = new Collected(words);
    session.shared.sessions().forEach(each -> lines.addText(each.line() + "\n"));
    return lines.text();
  }

  private static Reply command(Arguments words) {
    List<RespCommand> all = RespCommands.all();
    if (words.size() == 1) {
      return described(words, all);
    }
    return switch (words.word(1)) {
      case "COUNT" -> new Reply.Number(all.size());
      case "LIST" -> new Reply.Several(all.stream().map(each -> Reply.bulk(each.name())).toList());
      case "INFO" ->
          Collected.arrayOf(
              words,
              2,
              i ->
                  RespCommands.find(words.text(i))
                      .map(RespCommand::describe)
                      .orElse(Replies.NULL_ARRAY));
      case "DOCS" -> docs(all, words);
      default ->
          new Reply.Failure(
              "ERR unknown subcommand '%s'; see COMMAND DOCS command".formatted(words.text(1)));
    };
  }

  private static Reply described(Arguments words, List<RespCommand> all) {
    Collected described = new Collected(words);
    all.forEach(each -> described.add(each.describe()));
    return described.array();
  }

  private static Reply docs(List<RespCommand> all, Arguments words) {
    List<Reply> entries = new ArrayList<>();
    for (RespCommand each : all) {
      boolean isAsked = words.size() == 2;
      for (int i = 2; i < words.size(); i++) {
        isAsked |= words.text(i).equalsIgnoreCase(each.name());
      }
      if (isAsked) {
        entries.add(Reply.bulk(each.name()));
        entries.add(each.docs());
      }
    }
    return new Reply.Pairs(entries);
  }

  private static Reply config(Session session, CounterAccess counters, Arguments words) {
    if (!words.word(1).equals("GET") || words.size() < 3) {
      return new Reply.Failure(
          "ERR only CONFIG GET is supported; settings are fixed when the server starts");
    }
    List<String> patterns = new ArrayList<>();
    for (int i = 2; i < words.size(); i++) {
      patterns.add(words.text(i).toLowerCase(Locale.ROOT));
    }
    Glob glob = new Glob(counters, patterns);
    List<Reply> found = new ArrayList<>();
    settings(session.shared.engine().durability())
        .forEach((name, value) -> {
          if (glob.matches(name)) {
            found.add(Reply.bulk(name));
            found.add(Reply.bulk(value));
          }
        });
    return new Reply.Pairs(found);
  }

  private static Reply info(Session session, CounterAccess counters, Arguments words) {
    SharedState shared = session.shared;
    Map<String, String> sections = new TreeMap<>();
    sections.put(
        "server",
        "redis_version:%s\r\nquipu_version:%s\r\nredis_mode:standalone\r\nuptime_in_seconds:%d\r\n"
            .formatted(LIKE_REDIS, shared.version(), shared.upSeconds()));
    sections.put(
        "clients", "connected_clients:%d\r\nblocked_clients:0\r\n".formatted(shared.connected()));
    Runtime runtime = Runtime.getRuntime();
    sections.put(
        "memory", "used_memory:%d\r\n".formatted(runtime.totalMemory() - runtime.freeMemory()));
    sections.put("persistence", "loading:0\r\naof_enabled:1\r\n");
    sections.put(
        "stats",
        "total_connections_received:%d\r\ntotal_commands_processed:%d\r\n"
            .formatted(shared.accepted(), shared.commands()));
    sections.put("replication", "role:master\r\nconnected_slaves:0\r\n");
    sections.put(
        "keyspace",
        counters.size() == 0
            ? ""
            : "db0:keys=%d,expires=0,avg_ttl=0\r\n".formatted(counters.size()));
    Set<String> asked = new HashSet<>();
    for (int i = 1; i < words.size(); i++) {
      asked.add(words.text(i).toLowerCase(Locale.ROOT));
    }
    boolean isAll = asked.isEmpty() || !Collections.disjoint(asked, ALL_SECTIONS);
    StringBuilder text = new StringBuilder();
    sections.forEach((name, lines) -> {
      if (isAll || asked.contains(name)) {
        String title = name.substring(0, 1).toUpperCase(Locale.ROOT) + name.substring(1);
        text.append(text.isEmpty() ? "" : "\r\n").append("# ").append(title).append("\r\n");
        text.append(lines);
      }
    });
    return new Reply.Verbatim(text.toString());
  }
}
