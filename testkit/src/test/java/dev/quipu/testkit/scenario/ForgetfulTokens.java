package dev.quipu.testkit.scenario;

import dev.quipu.layer.ForwardingDriver;
import dev.quipu.store.BatchDriver;
import dev.quipu.store.BatchDriver.RequestToken;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.Write;
import dev.quipu.store.WriteResult;
import dev.quipu.time.Clock;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A store that remembers the token of a batch for 10 minutes, as DynamoDB does. */
final class ForgetfulTokens extends ForwardingDriver {
  private static final Duration REMEMBERED = Duration.ofMinutes(10);

  private final StoreDriver driver;
  private final Clock clock;
  private final Map<RequestToken, Use> uses = new HashMap<>();

  private record Use(long sinceNanos, int generation) {}

  ForgetfulTokens(StoreDriver driver, Clock clock) {
    this.driver = driver;
    this.clock = clock;
  }

  @Override
  protected StoreDriver driver() {
    return driver;
  }

  @Override
  public WriteResult writeAll(List<Write> writes, @Nullable RequestToken token) {
    if (token == null) {
      return BatchDriver.of(driver).writeAll(writes, null);
    }
    long now = clock.nanoTime();
    Use last = uses.get(token);
    if (last == null || now - last.sinceNanos > REMEMBERED.toNanos()) {
      last = new Use(now, last == null ? 0 : last.generation + 1);
      uses.put(token, last);
    }
    return BatchDriver.of(driver)
        .writeAll(writes, new RequestToken(last.generation + "-" + token.text()));
  }
}
