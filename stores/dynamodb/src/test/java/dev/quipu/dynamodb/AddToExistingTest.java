package dev.quipu.dynamodb;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.QuipuException;
import dev.quipu.Reason;
import dev.quipu.layer.Store;
import dev.quipu.time.Clock;
import dev.quipu.view.ViewCounter;
import dev.quipu.view.ViewEvent;
import dev.quipu.view.ViewOptions;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.awscore.retry.AwsRetryStrategy;
import software.amazon.awssdk.core.interceptor.Context;
import software.amazon.awssdk.core.interceptor.ExecutionAttributes;
import software.amazon.awssdk.core.interceptor.ExecutionInterceptor;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.DynamoDbException;
import software.amazon.awssdk.services.dynamodb.model.UpdateItemRequest;

/** {@code SET views = views + 1}, which fails on the first view. */
final class AddToExistingTest {
  private static final ViewEvent EVENT =
      new ViewEvent("myblog.com/article1", Instant.parse("2022-03-28T13:17:23Z"), "a");

  /** Records updates, and errors of any call. */
  private static final class Calls implements ExecutionInterceptor {
    private final List<UpdateItemRequest> updates = new ArrayList<>();
    private final List<Throwable> errors = new ArrayList<>();

    @Override
    public void beforeExecution(Context.BeforeExecution context, ExecutionAttributes attributes) {
      if (context.request() instanceof UpdateItemRequest update) {
        updates.add(update);
      }
    }

    @Override
    public void onExecutionFailure(Context.FailedExecution context, ExecutionAttributes ignored) {
      errors.add(context.exception());
    }
  }

  @Test
  void theUpdateItselfFailsOnTheFirstView() {
    Calls calls = new Calls();
    try (DynamoDbClient client =
            ViewsTable.builder(Tables.server().endpoint())
                .overrideConfiguration(each ->
                    each.addExecutionInterceptor(calls)
                        .retryStrategy(AwsRetryStrategy.doNotRetry()))
                .build();
        DynamoDbDriver driver = DynamoDbDriver.of(client, "naive", Duration.ofSeconds(10))) {
      Store store = new Store(driver, Clock.system());
      ViewCounter naive = new ViewCounter(store, ViewOptions.EXACT.in(ViewOptions.Form.NAIVE));
      calls.errors.clear(); // those of creating the table
      QuipuException e = assertThrows(QuipuException.class, () -> naive.add(EVENT));
      assertEquals(Reason.INVALID, e.reason());
      assertMissing(calls.errors.getFirst());
      assertEquals(OptionalLong.empty(), naive.count(EVENT.url()));
      new ViewCounter(store, ViewOptions.EXACT.in(ViewOptions.Form.IF_NOT_EXISTS)).add(EVENT);
      assertTrue(naive.add(EVENT));
      assertEquals(OptionalLong.of(2), naive.count(EVENT.url()));
      assertEquals(1, calls.errors.size());
      for (UpdateItemRequest update : List.of(calls.updates.getFirst(), calls.updates.getLast())) {
        String views = nameOf(update, "f:views");
        String expression = update.updateExpression();
        assertTrue(expression.contains("%1$s = %1$s + :".formatted(views)), expression);
        assertFalse(update.conditionExpression().contains("attribute_exists"));
      }
    }
  }

  private static String nameOf(UpdateItemRequest update, String attribute) {
    return update.expressionAttributeNames().entrySet().stream()
        .filter(each -> each.getValue().equals(attribute))
        .map(Map.Entry::getKey)
        .findFirst()
        .orElseThrow();
  }

  private static void assertMissing(Throwable error) {
    DynamoDbException answer = assertInstanceOf(DynamoDbException.class, error);
    assertEquals("ValidationException", answer.awsErrorDetails().errorCode());
    assertTrue(Failures.isMissingAttribute(answer), answer.getMessage());
  }

  @Test
  void theRequestOfAnotherProgramFailsInTheSameWay() {
    try (DynamoDbClient client = ViewsTable.client(Tables.server().endpoint())) {
      ViewsTable table = ViewsTable.created(client, "naive-of-others");
      assertMissing(assertThrows(DynamoDbException.class, () -> table.addToExisting(EVENT.url())));
      assertEquals(OptionalLong.empty(), table.views(EVENT.url()));
      table.count(EVENT.url(), EVENT.time().toString(), "a");
      table.addToExisting(EVENT.url());
      assertEquals(OptionalLong.of(2), table.views(EVENT.url()));
    }
  }
}
