package dev.quipu.server.http.message;

import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import tools.jackson.core.JsonGenerator;

/** Replies to a body of many lines with a line for each, in bounded memory. */
public final class Bulk {
  private static final int WRITTEN_BYTES = 64 << 10;

  private Bulk() {}

  /** The reply to a line: a JSON object. */
  public interface Reply {
    void write(JsonGenerator json);

    /** Returns a reply with these members. */
    static Reply of(Map<String, Object> members) {
      return json -> json.writePOJO(members);
    }
  }

  /**
   * Replies to all lines.
   *
   * @param work returns the replies to a batch of lines, in order
   * @throws Problem 507 before the first batch, if there is not enough memory for all
   */
  public static HttpReply reply(
      Exchange exchange, int linesMax, Function<List<Lines.Line>, List<Reply>> work) {
    exchange.allowParameters(Set.of());
    Lines lines = exchange.lines(linesMax);
    exchange.reserve(lines.memoryBytes());
    List<byte[]> parts = new ArrayList<>();
    for (List<Lines.Line> batch = lines.nextBatch(); !batch.isEmpty(); batch = lines.nextBatch()) {
      List<Reply> replies = work.apply(batch);
      ByteArrayOutputStream part = new ByteArrayOutputStream(WRITTEN_BYTES);
      try (JsonGenerator json = JsonBody.MAPPER.createGenerator(part)) {
        replies.forEach(each -> each.write(json));
      }
      part.write('\n');
      parts.add(part.toByteArray());
    }
    return HttpReply.bytes(200, "application/x-ndjson", parts);
  }
}
