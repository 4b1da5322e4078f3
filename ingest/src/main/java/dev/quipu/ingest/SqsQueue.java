package dev.quipu.ingest;

import dev.quipu.Outcome;
import dev.quipu.OutcomeUnknownException;
import dev.quipu.QuipuException;
import dev.quipu.Reason;
import dev.quipu.view.ViewEvent;
import java.net.URI;
import java.util.LinkedHashMap;
import java.util.Map;
import software.amazon.awssdk.awscore.exception.AwsServiceException;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.services.sqs.SqsClient;
import tools.jackson.databind.json.JsonMapper;

/**
 * Sends views to an SQS queue, for an {@link SqsConsumer}. In a FIFO queue, whose URL ends in
 * {@code .fifo}, each page is a message group. Thread-safe.
 */
public final class SqsQueue implements ViewQueue {
  private static final JsonMapper MAPPER = JsonMapper.builder().build();

  private final SqsClient client;
  private final URI queue;

  /** Creates a sender to this queue; it owns the client and closes it. */
  public SqsQueue(SqsClient client, URI queue) {
    this.client = client;
    this.queue = queue;
  }

  @Override
  public void send(ViewEvent event) {
    try {
      client.sendMessage(request -> {
        request.queueUrl(queue.toString()).messageBody(text(event));
        FifoQueue.address(request, queue, event);
      });
    } catch (AwsServiceException e) {
      boolean rejected = e.statusCode() >= 400 && e.statusCode() < 500;
      throw QuipuException.of(
          rejected ? Outcome.NOT_APPLIED : Outcome.UNKNOWN,
          e.isThrottlingException() ? Reason.THROTTLED : Reason.UNAVAILABLE,
          "cannot send to queue " + queue + ": " + e.getMessage(),
          e);
    } catch (SdkException e) {
      throw new OutcomeUnknownException(
          Reason.UNAVAILABLE, "cannot send to queue " + queue + ": " + e.getMessage(), e);
    }
  }

  /** Returns an event in the format of {@link EventReader}. */
  public static String text(ViewEvent event) {
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("url", event.url());
    members.put("time", event.time().toString());
    members.put("clientId", event.clientId());
    event.value().ifPresent(value -> members.put("value", value));
    return MAPPER.writeValueAsString(members);
  }

  @Override
  public void close() {
    client.close();
  }
}
