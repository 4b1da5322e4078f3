package dev.quipu.server.http;

import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/** Answers a body of many lines with a line for each, in bounded memory. */
final class Bulk {
  private Bulk() {}

  /**
   * Answers all lines.
   *
   * @param work returns the answers to a batch of lines, in their order
   * @throws Problem 507 before the first batch if there is no memory for all
   */
  static Answer answer(
      Exchange exchange, int linesMax, Function<List<Lines.Line>, List<Map<String, Object>>> work) {
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
    return Answer.bytes(200, "application/x-ndjson", parts);
  }
}
