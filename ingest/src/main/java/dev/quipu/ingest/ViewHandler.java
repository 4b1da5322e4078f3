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
 * AWS Lambda function that counts views of an SQS queue, with partial batch responses: only
 * messages without a definite count are delivered again. A malformed message is logged with the
 * reason and reported as failed, so that the queue's redrive policy moves it to its dead-letter
 * queue.
 *
 * <p>Environment variables: {@code QUIPU_STORE}, the URI of the store; {@code QUIPU_KEEP}, the
 * retention of markers, like {@code P7D} (default: unlimited); {@code QUIPU_IDENTITY}, which fields
 * identify a view (default {@code event}).
 */
public final class ViewHandler implements RequestHandler<SQSEvent, SQSBatchResponse> {
  private static final Logger LOGGER = LoggerFactory.getLogger(ViewHandler.class);

  private final ViewCounter views;
  private final ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor();

  /** Creates a handler from environment variables. */
  public ViewHandler() {
    this(fromEnvironment(System.getenv()));
  }

  /** Creates a handler on a counter. */
  public ViewHandler(ViewCounter views) {
    this.views = views;
  }

  private static ViewCounter fromEnvironment(Map<String, String> environment) {
    ViewOptions options =
        ViewOptions.EXACT.by(
            ViewIdentity.named(environment.getOrDefault("QUIPU_IDENTITY", "event")));
    String keep = environment.get("QUIPU_KEEP");
    return new ViewCounter(
        store(environment), keep == null ? options : options.keeping(Duration.parse(keep)));
  }

  /** Opens the store {@code QUIPU_STORE} of a function. */
  static Store store(Map<String, String> environment) {
    String uri = environment.get("QUIPU_STORE");
    if (uri == null) {
      throw new IllegalArgumentException("QUIPU_STORE is not set; set it to the URI of the store");
    }
    StoreDriver driver = StoreProvider.open(uri);
    Store store = new Store(driver, StoreClock.of(driver, Clock.system()));
    RecordGuard.requireOneRegion(store);
    return store;
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
      LOGGER.warn("Malformed message: id={} cause={}", message.getMessageId(), e.getMessage());
      return false;
    } catch (QuipuException e) {
      LOGGER.warn(
          "View not counted; will be delivered again: id={} cause={}",
          message.getMessageId(),
          e.getMessage());
      return false;
    }
  }

  private static boolean isDone(Future<Boolean> counted) {
    try {
      return counted.get();
    } catch (ExecutionException e) {
      LOGGER.error("Unhandled exception while counting a message", e.getCause());
      return false;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }
}
