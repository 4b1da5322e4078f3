package dev.quipu.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;

import dev.quipu.Add;
import dev.quipu.ItemResult;
import dev.quipu.OutcomeUnknownException;
import dev.quipu.QuipuException;
import dev.quipu.Reason;
import dev.quipu.RequestId;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What an add without a result reports. */
final class PendingAddsTest {
  private final PendingAdds call =
      new PendingAdds(List.of(new Add("a", 1, null)), new RequestId[] {RequestId.of("1")}, 0);

  private void attempt(Reason reason) {
    call.begin();
    call.failed(0, new OutcomeUnknownException(reason, reason.name(), null), true);
    call.end();
  }

  private QuipuException ended() {
    call.giveUp(Reason.TIMEOUT, "the deadline of the call passed");
    ItemResult result = call.await().getFirst();
    return assertInstanceOf(
        OutcomeUnknownException.class, assertInstanceOf(ItemResult.Failed.class, result).cause());
  }

  @Test
  void anAttemptWithoutAResponseDoesNotHideWhyEarlierOnesFailed() {
    attempt(Reason.UNAVAILABLE);
    attempt(Reason.TIMEOUT);
    assertEquals(Reason.UNAVAILABLE, ended().reason());
  }

  @Test
  void withoutAnyResponseItIsATimeout() {
    attempt(Reason.TIMEOUT);
    assertEquals(Reason.TIMEOUT, ended().reason());
  }
}
