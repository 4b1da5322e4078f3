package dev.quipu.ingest;

import dev.quipu.store.Key;
import dev.quipu.view.ViewEvent;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.regex.Pattern;
import software.amazon.awssdk.services.sqs.model.SendMessageRequest;

/**
 * What a FIFO queue of SQS needs of each message: a group, within which it keeps the order, and an
 * id, by which it rejects duplicates for five minutes.
 */
final class FifoQueue {
  private static final String SUFFIX = ".fifo"; // required by SQS
  private static final Pattern ID = Pattern.compile("[!-~]{1,128}"); // allowed by SQS

  private FifoQueue() {}

  static boolean is(URI queue) {
    return queue.getPath().endsWith(SUFFIX);
  }

  /** Sets the page as the group, and a hash of the whole view as the id, on a FIFO queue. */
  static void address(SendMessageRequest.Builder request, URI queue, ViewEvent event) {
    if (is(queue)) {
      String view = String.join("\0", event.url(), event.time().toString(), event.clientId());
      request.messageGroupId(id(event.url())).messageDeduplicationId(digest(view));
    }
  }

  /** Sets the group and the id of a message that is no view, on a FIFO queue. */
  static void address(
      SendMessageRequest.Builder request, URI queue, String group, String messageId) {
    if (is(queue)) {
      request.messageGroupId(group).messageDeduplicationId(id(messageId));
    }
  }

  private static String id(String text) {
    return ID.matcher(text).matches() ? text : digest(text);
  }

  private static String digest(String text) {
    return HexFormat.of().formatHex(Key.digest(text.getBytes(StandardCharsets.UTF_8)));
  }
}
