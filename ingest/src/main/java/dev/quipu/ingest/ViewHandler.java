package dev.quipu.ingest;

import com.amazonaws.services.lambda.runtime.Context;
import com.amazonaws.services.lambda.runtime.RequestHandler;
import com.amazonaws.services.lambda.runtime.events.SQSBatchResponse;
import com.amazonaws.services.lambda.runtime.events.SQSEvent;
import dev.quipu.QuipuException;
import dev.quipu.layer.Store;
import dev.quipu.record.RecordGuard;
import dev.quipu.store.StoreClock;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreProvider;
import dev.quipu.time.Clock;
import dev.quipu.view.ViewCounter;
import dev.quipu.view.ViewIdentity;
import dev.quipu.view.ViewOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Counts views as an AWS Lambda function behind an SQS queue, with partial batch responses: what
 * was not counted for sure is delivered again, and nothing else. What is no event is logged with
 * the reason and reported as failed, so that the queue's redrive policy moves it to its dead-letter
 * queue.
 *
 * <p>By environment: {@code QUIPU_STORE}, where to count; {@code QUIPU_KEEP}, how long views are
 * remembered, like {@code P7D} (default: for ever); {@code QUIPU_IDENTITY}, what makes two events
 * the same view (default {@code event}).
 */
public final class ViewHandler implements RequestHandler<SQSEvent, SQSBatchResponse> {
  private static final Logger LOGGER = LoggerFactory.getLogger(ViewHandler.class);

  private final ViewCounter views;
  private final ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor();

  /** As the environment says. */
  public ViewHandler() {
    this(fromEnvironment(System.getenv()));
  }

  /** On a counter of the caller's. */
  public ViewHandler(ViewCounter views) {
    this.views = views;
  }

  private static ViewCounter fromEnvironment(Map<String, String> environment) {
    String uri = environment.get("QUIPU_STORE");
    if (uri == null) {
      throw new IllegalArgumentException("QUIPU_STORE is not set; it says where to count");
    }
    ViewOptions options =
        ViewOptions.EXACT.by(
            ViewIdentity.named(environment.getOrDefault("QUIPU_IDENTITY", "event")));
    String keep = environment.get("QUIPU_KEEP");
    StoreDriver driver = StoreProvider.open(uri);
    Store store = new Store(driver, StoreClock.of(driver, Clock.system()));
    RecordGuard.requireOneRegion(store);
    return new ViewCounter(store, keep == null ? options : options.keeping(Duration.parse(keep)));
  }

  @Override
  public SQSBatchResponse handleRequest(SQSEvent event, Context context) {
    Map<String, Future<Boolean>> running = new LinkedHashMap<>();
    for (SQSEvent.SQSMessage message : event.getRecords()) {
      running.put(message.getMessageId(), executor.submit(() -> count(message)));
    }
    List<SQSBatchResponse.BatchItemFailure> failures = new ArrayList<>();
    running.forEach((id, counted) -> {
      if (!isDone(counted)) {
        failures.add(new SQSBatchResponse.BatchItemFailure(id));
      }
    });
    return new SQSBatchResponse(failures);
  }

  private boolean count(SQSEvent.SQSMessage message) {
    try {
      views.add(EventReader.read(message.getBody()));
      return true;
    } catch (MalformedEvent e) {
      LOGGER.warn("Message {} is no event: {}", message.getMessageId(), e.getMessage());
      return false;
    } catch (QuipuException e) {
      LOGGER.warn(
          "Message {} was not counted for sure: {}", message.getMessageId(), e.getMessage());
      return false;
    }
  }

  private static boolean isDone(Future<Boolean> counted) {
    try {
      return counted.get();
    } catch (ExecutionException e) {
      LOGGER.error("A message could not be counted", e.getCause());
      return false;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }
}
