package dev.quipu.server;

import java.net.URI;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import software.amazon.awssdk.services.sqs.SqsClient;
import software.amazon.awssdk.services.sqs.model.DeleteMessageBatchRequestEntry;
import software.amazon.awssdk.services.sqs.model.Message;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Emulates the event source mapping of AWS, between a queue and a function: batches of ten; deletes
 * the messages that did not fail. For one thread.
 */
final class EventSource {
  private static final int BATCH = 10;
  private static final JsonMapper MAPPER = JsonMapper.builder().build();

  int crashes;
  int batches;
  int failuresReported;
  final Set<String> malformed = new HashSet<>();
  private final SqsClient client;
  private final URI queue;
  private final LambdaService lambda;
  private final int visibilitySeconds;

  /**
   * Creates a source.
   *
   * @param visibilitySeconds time until a batch without a result is delivered again
   */
  EventSource(SqsClient client, URI queue, LambdaService lambda, int visibilitySeconds) {
    this.client = client;
    this.queue = queue;
    this.lambda = lambda;
    this.visibilitySeconds = visibilitySeconds;
  }

  /**
   * Delivers a batch, if there is one.
   *
   * @param crashNow whether the runtime is killed meanwhile
   * @return whether there was one
   */
  boolean deliver(boolean crashNow) throws Exception {
    List<Message> batch =
        client
            .receiveMessage(request ->
                request
                    .queueUrl(queue.toString())
                    .maxNumberOfMessages(BATCH)
                    .waitTimeSeconds(1)
                    .visibilityTimeout(visibilitySeconds))
            .messages();
    if (!batch.isEmpty()) {
      deliver(batch, crashNow);
    }
    return !batch.isEmpty();
  }

  private void crash() {
    try {
      lambda.crash();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void deliver(List<Message> batch, boolean crashNow) throws Exception {
    batches++;
    Thread killer = null;
    if (crashNow) {
      killer = Thread.ofVirtual().start(this::crash);
      crashes++;
    }
    Optional<String> answer = lambda.invoke(event(batch));
    if (killer != null) {
      killer.join();
    }
    if (answer.isPresent()) { // otherwise all of them are redelivered
      deleteCounted(batch, answer.get());
    }
  }

  private void deleteCounted(List<Message> batch, String answer) {
    Set<String> failed = new HashSet<>();
    for (JsonNode each : MAPPER.readTree(answer).path("batchItemFailures")) {
      failed.add(each.path("itemIdentifier").asString());
    }
    failuresReported += failed.size();
    List<DeleteMessageBatchRequestEntry> done = new ArrayList<>();
    for (Message message : batch) {
      if (!failed.contains(message.messageId())) {
        done.add(
            DeleteMessageBatchRequestEntry.builder()
                .id(Integer.toString(done.size()))
                .receiptHandle(message.receiptHandle())
                .build());
      } else if (message.body().startsWith("no event")) {
        malformed.add(message.body());
      }
    }
    if (!done.isEmpty()) {
      client.deleteMessageBatch(request -> request.queueUrl(queue.toString()).entries(done));
    }
  }

  private static String event(List<Message> batch) {
    List<Map<String, Object>> records = new ArrayList<>();
    for (Message message : batch) {
      records.add(
          LambdaService.message(message.messageId(), message.receiptHandle(), message.body()));
    }
    return MAPPER.writeValueAsString(Map.of("Records", records));
  }
}
