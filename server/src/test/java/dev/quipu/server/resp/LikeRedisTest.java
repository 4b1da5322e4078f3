package dev.quipu.server.resp;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.quipu.engine.Engine;
import dev.quipu.engine.EngineOptions;
import dev.quipu.server.protocol.CommandPort;
import dev.quipu.server.protocol.PortOptions;
import dev.quipu.testservers.RedisServer;
import dev.quipu.time.Clock;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Sends the same bytes to a real Redis and to this server and compares the replies. */
final class LikeRedisTest {
  private static final String COUNTING =
      """
      INCR a|INCR a|GET a|DECR a|INCRBY a 40|DECRBY a 2|INCRBY a -3|INCRBY a 0|INCRBY z 0
      GET z|INCRBY a x|INCRBY a 1.5|INCRBY a 9223372036854775808|INCRBY a 01|INCRBY a +1
      INCRBY a ''|DECRBY a -9223372036854775808|SET a 9223372036854775807|INCR a|GET a|DECR a
      SET a -9223372036854775808|DECR a|INCRBY a -1|DECRBY a 1|GET a|INCR|INCR a b|INCRBY a
      incr a|InCr a|GET none|GET|MGET a none z|MGET|STRLEN a|STRLEN none|TYPE a|TYPE none
      EXISTS a none a|EXISTS|TOUCH a none|NONSENSE|NONSENSE a b|nonsense 'x y'
      """;
  private static final String SETTING =
      """
      SET s 5|GET s|SET s 6 NX|SET s 7 XX|SET t 8 XX|SET t 9 NX|MGET s t|SET s 10 GET
      SET u 1 GET|SET s 11 NX GET|SET s 1 XX GET|SET s 1 NX XX|SET s 1 FOO|SET s|SET s 1 EX
      SET s 1 EX 0|SET s 1 EX -1|SET s 1 EX x|SET s 1 EX 10 PX 10|SET s 1 EX 10 KEEPTTL
      SET s 1 KEEPTTL EX 10|SET s 1 EX 9223372036854775807|SET s 2 EX 100|TTL s
      SET s 3 KEEPTTL|TTL s|SET s 4|TTL s|SET s 5 PX 100000|TTL s|SET s 6 EXAT 4102444800
      EXPIRETIME s|PEXPIRETIME s|SET s 6 PXAT 4102444800123|EXPIRETIME s|PEXPIRETIME s
      SETNX s 1|SETNX v 2|GET v|SETEX w 100 3|TTL w|SETEX w 0 3|SETEX w x 3|SETEX w 100
      PSETEX w 100000 4|TTL w|GETSET w 5|TTL w|GETSET x 1|GETDEL x|GETDEL x|MSET a 1 b 2
      MGET a b|MSET a|MSET a 1 b|DEL a b none|DEL|UNLINK s t|EXISTS s
      """;
  private static final String EXPIRING =
      """
      EXPIRE none 10|SET e 1|TTL e|PTTL none|EXPIRE e 100|TTL e|PERSIST e|PERSIST e
      PERSIST none|EXPIRE e 100 NX|EXPIRE e 200 NX|TTL e|EXPIRE e 50 GT|TTL e|EXPIRE e 300 GT
      TTL e|EXPIRE e 20 LT|TTL e|EXPIRE e 30 XX|TTL e|EXPIRE e 10 NX XX|EXPIRE e 10 GT LT
      EXPIRE e 10 FOO|EXPIRE e x|EXPIRE e|EXPIRE e 9223372036854775807|PEXPIRE e 100000|TTL e
      EXPIREAT e 4102444800|EXPIRETIME e|PEXPIREAT e 4102444800000|PEXPIRETIME e
      EXPIRETIME none|INCR e|EXPIRETIME e|EXPIRE e -1|GET e|SET f 1|EXPIREAT f 1|EXISTS f
      SET g 1|GETEX g|GETEX g EX 100|TTL g|GETEX g PERSIST|TTL g|GETEX g EX 0|GETEX g FOO
      GETEX none EX 10|GETEX g PXAT 4102444800000|PEXPIRETIME g|DEL g
      """;
  private static final String TRANSACTIONS =
      """
      MULTI|INCR m|INCR m|GET m|EXEC|GET m|EXEC|DISCARD|MULTI|MULTI|INCR m|DISCARD|GET m|MULTI
      INCR m|NONSENSE|INCR m|EXEC|GET m|MULTI|INCR|EXEC|MULTI|SET m 1|INCRBY m x|INCR m|EXEC
      WATCH m|MULTI|INCR m|EXEC|GET m|WATCH m|INCR m|MULTI|INCR m|EXEC|GET m|WATCH m|SET m 7
      UNWATCH|MULTI|INCR m|EXEC|WATCH none|MULTI|INCR none|EXEC|WATCH|MULTI|WATCH m|EXEC|MULTI
      PING|EXEC|WATCH m|INCR m|DISCARD|MULTI|DISCARD|UNWATCH|MULTI|EXEC
      HSET h f 1|WATCH h|HINCRBY h f 1|MULTI|PING|EXEC|WATCH h|HDEL h f|MULTI|PING|EXEC
      WATCH h|HSET h f 1|MULTI|PING|EXEC|WATCH h|HINCRBY k f 1|MULTI|PING|EXEC|WATCH h|DEL h
      MULTI|PING|EXEC|WATCH z|ZINCRBY z 1 a|MULTI|PING|EXEC|WATCH z|SET z 1|MULTI|PING|EXEC
      WATCH '' z|HSET '' f 1|MULTI|PING|EXEC|WATCH k|HGETALL k|MULTI|HINCRBY k f 1|EXEC|HGET k f
      """;
  private static final String FAMILIES =
      """
      HINCRBY h a 1|HINCRBY h a 4|HGET h a|HINCRBY h b -2|HGETALL h|HKEYS h|HVALS h|HLEN h
      HEXISTS h a|HEXISTS h c|HEXISTS none a|HGET none a|HGET h c|HMGET h a c b|HMGET none a b
      HDEL h a c|HLEN h|TYPE h|EXISTS h none|INCR h|GET h|GETSET h 1|STRLEN h|MGET h
      HINCRBY h a x|HINCRBY h a|HINCRBY|HSET h a 9223372036854775807|HINCRBY h a 1|HGET h a
      HSET h x 1 y 2|HSET h x 3 z 4|HSET h x|HSET h|HSETNX h x 9|HSETNX h w 9|HGETALL none
      EXPIRE h 100|TTL h|HINCRBY h new 1|TTL h|PERSIST h|TTL h|KEYS *|SET c 1
      HINCRBY c a 1|HGET c a|HGETALL c|HLEN c|HDEL c a|DEL h|EXISTS h|HLEN h|HGETALL h|TYPE h
      HINCRBY h a 1|SET h 5|GET h|TYPE h|DEL h|HINCRBY h a 1|EXPIRE h -1|EXISTS h|HGET h a
      MULTI|HINCRBY h a 1|HINCRBY h a 1|HGETALL h|DEL h|EXEC|SCAN 0|SCAN 0 TYPE hash
      HINCRBY only a 1|DEL c|SCAN 0 TYPE hash|SCAN 0 TYPE string|KEYS o*|UNLINK only|KEYS *
      """;
  private static final String RANKINGS =
      """
      ZINCRBY z 1 a|ZINCRBY z 4 b|ZINCRBY z 4 c|ZINCRBY z -9 d|ZSCORE z a|ZSCORE z no|ZSCORE no a
      ZCARD z|ZCARD no|ZREVRANGE z 0 -1|ZREVRANGE z 0 -1 WITHSCORES|ZRANGE z 0 -1
      ZRANGE z 0 -1 WITHSCORES|ZRANGE z 0 1 REV|ZRANGE z 0 1 REV WITHSCORES|ZREVRANGE z 0 0
      ZREVRANGE z 1 2 WITHSCORES|ZREVRANGE z -2 -1|ZREVRANGE z 5 9|ZREVRANGE z 2 1|ZREVRANGE z 0 -9
      ZREVRANGE z -100 100|ZREVRANGE no 0 -1|ZREVRANGE z x 1|ZREVRANGE z 0|ZREVRANGE z 0 1 FOO
      ZRANK z a|ZREVRANK z a|ZRANK z no|ZRANK no a|ZMSCORE z a no b|ZREM z a no|ZCARD z|TYPE z
      ZADD z 5 e|ZADD z 6 e|ZADD z NX 7 e 8 f|ZADD z XX 9 e 1 g|ZADD z CH 1 e 2 f|ZADD z|ZADD z 1
      ZADD z NX XX 1 a|ZADD z 1 a 2|ZREVRANGE z 0 -1 WITHSCORES|INCR z|GET z|HGET z a|HINCRBY z a 1
      SET c 1|ZINCRBY c 1 a|ZSCORE c a|ZREVRANGE c 0 -1|ZADD c 1 a|EXPIRE z 100|ZINCRBY z 1 new
      TTL z|DEL z|EXISTS z|ZCARD z|ZINCRBY z 1 a|SET z 1|GET z
      """;
  private static final String SKETCHES =
      """
      PFADD p a b c|PFADD p a b c|PFADD p d|PFCOUNT p|PFCOUNT none|PFADD q d e|PFCOUNT p q
      PFMERGE r p q|PFCOUNT r|PFMERGE none2|PFCOUNT none2|PFADD empty|PFADD empty|PFCOUNT empty
      TYPE p|EXISTS p|EXPIRE p 100|TTL p|PFADD p e|TTL p|DEL p|PFCOUNT p|SET c 1|PFADD c a
      PFCOUNT c|PFMERGE c q|PFADD|PFCOUNT|HINCRBY h a 1|PFADD h a|PFCOUNT h|SET q 1|GET q
      """;
  private static final String EMPTY_KEYS =
      """
      GET ''|SET '' 5|GET ''|INCR ''|INCRBY '' 0|DECRBY '' 2|INCRBY '' x|MGET '' a|TYPE ''|EXISTS ''
      KEYS *|SCAN 0|RANDOMKEY|STRLEN ''|EXPIRE '' 100|TTL ''|INCR ''|TTL ''|PERSIST ''|GETSET '' 9
      SET '' 9223372036854775807|INCR ''|GETDEL ''|GET ''|INCRBY '' 0|DEL ''|MSET '' 1 a 2|MGET '' a
      DEL '' a|HSET h '' 1|HINCRBY h '' 2|HGETALL h|HGET h ''|HDEL h ''|EXISTS h|HSET '' '' 2 f 1
      HGETALL ''|TYPE ''|KEYS *|SCAN 0|INCR ''|HLEN ''|SET '' 1|GET ''|HGET '' f|ZADD '' 1 a|DEL ''
      ZADD '' 1 '' 2 b|ZRANGE '' 0 -1 WITHSCORES|TYPE ''|KEYS *|EXPIRE '' 100|TTL ''|UNLINK ''
      PFADD '' a|PFCOUNT ''|DEL ''|SETNX '' 1|SETNX '' 2|GET ''|WATCH ''|MULTI|INCR ''|GET ''|EXEC
      """;
  private static final String CONNECTION =
      """
      PING|PING hello|PING a b|ECHO|ECHO x|SELECT 0|SELECT 99|SELECT x|AUTH x|AUTH default x
      AUTH a b c|CLIENT SETNAME me|CLIENT GETNAME|CLIENT SETNAME 'a b'|CLIENT NO-EVICT on
      CONFIG GET appendonly|CONFIG GET nothing|HELLO 1|HELLO 4|HELLO 0|HELLO -1|HELLO x
      FLUSHALL FOO|FLUSHALL SYNC ASYNC|FLUSHDB x
      KEYS none*|SCAN x|DBSIZE|KEYS *
      """;

  @TempDir Path directory;

  private static void same(Path directory, int protocol, String script) throws IOException {
    List<String> differ = new ArrayList<>();
    try (RedisServer redis = RedisServer.startDurable();
        Engine engine = Engine.open(directory, EngineOptions.defaults());
        CommandPort server = serve(engine, Optional.empty());
        RawClient theirs = new RawClient(redis.port());
        RawClient ours = new RawClient(server.address().getPort())) {
      if (protocol == 3) {
        theirs.ask("HELLO 3");
        ours.ask("HELLO 3");
      }
      for (String line : script.strip().replace('\n', '|').split("\\|", -1)) {
        String expected = theirs.ask(line);
        String answer = ours.ask(line);
        if (!answer.equals(expected)) {
          differ.add("%s: %s, not %s".formatted(line, shown(answer), shown(expected)));
        }
      }
    }
    assertEquals(List.of(), differ);
  }

  private static String shown(String bytes) {
    return bytes.replace("\r\n", "~");
  }

  static CommandPort serve(Engine engine, Optional<String> token) throws IOException {
    return RespServer.start(
        PortOptions.at(0).withAccess("127.0.0.1", token, Optional.empty()),
        engine,
        "test",
        Clock.system());
  }

  /** Starts a server again on the same port. */
  static CommandPort serve(Engine engine, int port) throws IOException {
    return RespServer.start(PortOptions.at(port), engine, "test", Clock.system());
  }

  static Stream<Arguments> scripts() {
    Map<String, String> scripts =
        new TreeMap<>(
            Map.of(
                "counting", COUNTING,
                "setting", SETTING,
                "expiring", EXPIRING,
                "transactions", TRANSACTIONS,
                "connection", CONNECTION,
                "emptykeys", EMPTY_KEYS,
                "families", FAMILIES,
                "rankings", RANKINGS,
                "sketches", SKETCHES));
    return scripts.entrySet().stream()
        .flatMap(each ->
            Stream.of(2, 3)
                .map(protocol -> Arguments.of(each.getKey(), protocol, each.getValue())));
  }

  @ParameterizedTest(name = "{0}, RESP{1}")
  @MethodSource("scripts")
  void repliesAreTheSame(String name, int protocol, String script) throws IOException {
    same(directory, protocol, script);
  }
}
