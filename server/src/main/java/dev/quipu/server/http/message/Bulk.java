package dev.quipu.server.http.message;

import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;

/** Replies to a body of many lines with a line for each, in bounded memory. */
public final class Bulk {
  private Bulk() {}

  /**
   * Replies to all lines.
   *
   * @param work returns the replies to a batch of lines, in order
   * @throws Problem 507 before the first batch, if there is not enough memory for all
   */
  public static HttpReply reply(
      Exchange exchange, int linesMax, Function<List<Lines.Line>, List<Map<String, Object>>> work) {
    exchange.allowParameters(Set.of());
    Lines lines = exchange.lines(linesMax);
    exchange.reserve(lines.memoryBytes());
    List<byte[]> parts = new ArrayList<>();
    for (List<Lines.Line> batch = lines.nextBatch(); !batch.isEmpty(); batch = lines.nextBatch()) {
      ByteArrayOutputStream part = new ByteArrayOutputStream();
      for (Map<String, Object> line : work.apply(batch)) {
        part.writeBytes(JsonBody.MAPPER.writeValueAsBytes(line));
        part.write('\n');
      }
      parts.add(part.toByteArray());
    }
    return HttpReply.bytes(200, "application/x-ndjson", parts);
  }
}
