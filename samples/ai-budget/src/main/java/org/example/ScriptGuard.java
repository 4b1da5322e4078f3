package org.example;

import io.lettuce.core.RedisClient;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.SetArgs;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.sync.RedisCommands;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * The usual guard, for comparison: a script on Redis adds what a call may cost, and the difference
 * afterwards. Keys expire and are seeded again from the log of what was spent, which each gateway
 * writes every second.
 */
final class ScriptGuard implements Guard {
  private static final String RESERVE =
      """
      for i, key in ipairs(KEYS) do
        local spent = redis.call('GET', key)
        if not spent then return 'MISS' end
        if spent + ARGV[1] > tonumber(ARGV[i + 1]) then return 'OVER' end
      end
      for i, key in ipairs(KEYS) do redis.call('INCRBYFLOAT', key, ARGV[1]) end
      return 'OK'
      """;

  private static final Duration KEY_TTL = Duration.ofSeconds(2);

  private final RedisClient client;
  private final StatefulRedisConnection<String, String> connection;
  private final RedisCommands<String, String> redis;
  private final Path log;
  private final List<String> spent = new ArrayList<>();
  private final ScheduledExecutorService writer = Executors.newSingleThreadScheduledExecutor();

  /**
   * Opens a guard.
   *
   * @param log directory of what was spent, shared by all gateways
   */
  ScriptGuard(String server, Path log) {
    this.client = RedisClient.create(server);
    this.connection = client.connect();
    this.redis = connection.sync();
    this.log = log;
    var unused = writer.scheduleWithFixedDelay(this::write, 1, 1, TimeUnit.SECONDS);
  }

  private static String amount(long micros) {
    return Double.toString(micros / 1e6);
  }

  @Override
  public boolean reserve(String call, List<Budget> budgets, long most) throws IOException {
    String[] keys = budgets.stream().map(Budget::counter).toArray(String[]::new);
    Stream<String> limits = budgets.stream().map(each -> amount(each.limit()));
    String[] values = Stream.concat(Stream.of(amount(most)), limits).toArray(String[]::new);
    while (true) {
      String answer = redis.eval(RESERVE, ScriptOutputType.VALUE, keys, values);
      if (!answer.equals("MISS")) {
        return answer.equals("OK");
      }
      for (Budget each : budgets) {
        if (redis.get(each.counter()) == null) {
          redis.set(each.counter(), amount(logged(each)), SetArgs.Builder.ex(KEY_TTL));
        }
      }
    }
  }

  @Override
  public void settle(String call, List<Budget> budgets, long reserved, long cost) {
    for (Budget each : budgets) {
      redis.incrbyfloat(each.counter(), (cost - reserved) / 1e6);
    }
    synchronized (spent) {
      budgets.forEach(each -> spent.add(each.counter() + " " + amount(cost)));
    }
  }

  /** Writes what was spent since the last time. */
  private void write() {
    List<String> lines;
    synchronized (spent) {
      lines = List.copyOf(spent);
      spent.clear();
    }
    try {
      Files.write(
          log.resolve("spent-" + ProcessHandle.current().pid()),
          lines,
          StandardOpenOption.CREATE,
          StandardOpenOption.APPEND);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private long logged(Budget budget) throws IOException {
    double sum = 0;
    try (Stream<Path> files = Files.list(log)) {
      for (Path file : files.toList()) {
        for (String line : Files.readAllLines(file)) {
          if (line.startsWith(budget.counter() + " ")) {
            sum += Double.parseDouble(line.substring(budget.counter().length() + 1));
          }
        }
      }
    }
    return Math.round(sum * 1e6);
  }

  /** It knows no calls of other gateways. */
  @Override
  public void recover(List<Budget> budgets, ModelClient model, boolean isLast) {}

  @Override
  public long spent(Budget budget) throws IOException {
    String value = redis.get(budget.counter());
    return value == null
        ? logged(budget)
        : new BigDecimal(value)
            .movePointRight(6)
            .setScale(0, RoundingMode.HALF_UP)
            .longValueExact();
  }

  /** It does not know which part of a value is reserved. */
  @Override
  public long held(Budget budget) {
    return 0;
  }

  @Override
  public void close() {
    writer.close(); // after the last lines
    write();
    connection.close();
    client.shutdown();
  }
}
