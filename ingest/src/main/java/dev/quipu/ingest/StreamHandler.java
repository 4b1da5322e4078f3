package dev.quipu.ingest;

import com.amazonaws.services.lambda.runtime.Context;
import com.amazonaws.services.lambda.runtime.RequestHandler;
import com.amazonaws.services.lambda.runtime.events.DynamodbEvent;
import com.amazonaws.services.lambda.runtime.events.DynamodbEvent.DynamodbStreamRecord;
import com.amazonaws.services.lambda.runtime.events.StreamsEventResponse;
import com.amazonaws.services.lambda.runtime.events.models.dynamodb.AttributeValue;
import dev.quipu.QuipuException;
import dev.quipu.store.Item.Field;
import dev.quipu.view.ViewAggregates;
import dev.quipu.view.ViewAggregates.StoredView;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * AWS Lambda function that maintains {@link ViewAggregates} from the DynamoDB stream of a table of
 * views, with partial batch responses: it reports each record whose view was not added, or possibly
 * not, and the stream delivers again from the first of them on. The table may have either layout of
 * the DynamoDB driver, also with views that another program stores.
 *
 * <p>A record adds a view if it has the new image of an item that stores one; so removals, by
 * expiry or by a user, and changes of the counts have no effect. An item that has the key of a
 * view, but is malformed, is logged and skipped: another delivery cannot succeed, and would delay
 * all later records of its shard.
 *
 * <p>Environment variables: {@code QUIPU_STORE}, the URI of the store of the aggregates, preferably
 * not the table of the views, whose stream would deliver the changes of the aggregates too; {@code
 * QUIPU_KEEP}, the retention of markers, like {@code P7D}, at least two days (default: unlimited).
 */
public final class StreamHandler implements RequestHandler<DynamodbEvent, StreamsEventResponse> {
  private static final Logger LOGGER = LoggerFactory.getLogger(StreamHandler.class);

  /** Time that is left for a response: a function that exceeds its timeout confirms no record. */
  private static final Duration RESERVE = Duration.ofSeconds(5);

  // The layouts of the DynamoDB driver.
  private static final List<String> PARTITION = List.of("pk", "PK");
  private static final List<String> SORT = List.of("sk", "SK");
  private static final String FIELD = "f:";

  private final ViewAggregates aggregates;

  /** Creates a handler from environment variables. */
  public StreamHandler() {
    this(fromEnvironment(System.getenv()));
  }

  /** Creates a handler on aggregates. */
  public StreamHandler(ViewAggregates aggregates) {
    this.aggregates = aggregates;
  }

  private static ViewAggregates fromEnvironment(Map<String, String> environment) {
    Optional<Duration> keep =
        Optional.ofNullable(environment.get("QUIPU_KEEP")).map(Duration::parse);
    return new ViewAggregates(ViewHandler.store(environment), keep);
  }

  /** A record of the stream that stored a view. */
  private record Change(String sequenceNumber, StoredView view) {}

  @Override
  public StreamsEventResponse handleRequest(DynamodbEvent event, @Nullable Context context) {
    List<Change> changes = new ArrayList<>();
    for (DynamodbStreamRecord each : event.getRecords()) {
      view(each).ifPresent(it -> changes.add(new Change(number(each), it)));
    }
    List<StreamsEventResponse.BatchItemFailure> failures = new ArrayList<>();
    int together = aggregates.togetherMax();
    for (int from = 0; from < changes.size(); from += together) {
      List<Change> group = changes.subList(from, Math.min(changes.size(), from + together));
      if (!failures.isEmpty() || (from > 0 && !hasTime(context)) || !isAdded(group)) {
        group.forEach(change ->
            failures.add(new StreamsEventResponse.BatchItemFailure(change.sequenceNumber)));
      }
    }
    return new StreamsEventResponse(failures);
  }

  private static boolean hasTime(@Nullable Context context) {
    return context == null || context.getRemainingTimeInMillis() > RESERVE.toMillis();
  }

  private boolean isAdded(List<Change> group) {
    try {
      aggregates.add(group.stream().map(Change::view).toList());
      return true;
    } catch (QuipuException e) {
      LOGGER.warn(
          "Views not aggregated; will be delivered again: from={} views={} cause={}",
          group.getFirst().sequenceNumber,
          group.size(),
          e.getMessage());
      return false;
    }
  }

  private static String number(DynamodbStreamRecord change) {
    return change.getDynamodb().getSequenceNumber();
  }

  private static Optional<StoredView> view(DynamodbStreamRecord change) {
    if ("REMOVE".equals(change.getEventName())) {
      return Optional.empty();
    }
    Map<String, AttributeValue> image = change.getDynamodb().getNewImage();
    if (image == null) {
      throw new IllegalArgumentException(
          "record %s has no new image; set the view type of the stream to NEW_IMAGE"
              .formatted(number(change)));
    }
    Map<String, Field> fields = new HashMap<>();
    try {
      image.forEach((name, value) -> {
        if (name.equals(StoredView.TTL) && value.getN() != null) {
          fields.put(name, new Field.Number(Long.parseLong(value.getN())));
        } else if (name.startsWith(FIELD) && value.getN() != null) {
          fields.put(
              name.substring(FIELD.length()), new Field.Number(Long.parseLong(value.getN())));
        } else if (name.startsWith(FIELD) && value.getS() != null) {
          fields.put(name.substring(FIELD.length()), new Field.Text(value.getS()));
        }
      });
      return StoredView.of(text(image, PARTITION), text(image, SORT), fields);
    } catch (IllegalArgumentException e) { // also of parseLong
      LOGGER.warn("Malformed view skipped: record={} cause={}", number(change), e.getMessage());
      return Optional.empty();
    }
  }

  private static String text(Map<String, AttributeValue> image, List<String> names) {
    return names.stream()
        .map(image::get)
        .filter(value -> value != null && value.getS() != null)
        .map(AttributeValue::getS)
        .findFirst()
        .orElse("");
  }
}
