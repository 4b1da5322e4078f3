package dev.quipu.server.http.message;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;

/** What a line of a body is does not depend on the lines around it. */
final class LinesTest {
  private static final Set<String> FIELDS = Set.of("name", "delta");

  private static final List<String> LINES =
      List.of(
          "{\"name\":\"a\",\"delta\":1}",
          "  { \"name\" : \"b\" ,\t\"delta\" : -7 } \t\r",
          "{\"name\":\"\\u0041\\n\"}",
          "{\"name\":\"é\",\"delta\":2}",
          "{\"name\":\"\u0000\"}",
          "{}",
          "{\"delta\":{\"a\":[\"b\",{}]}}",
          "{\"name\":",
          "\"a\"}",
          "{\"name\":\"a",
          "{",
          "}",
          "{\"delta\":1",
          ",\"name\":\"a\"}",
          "{\"name\":\"a\"}{\"name\":\"b\"}",
          "{\"name\":\"a\"} {",
          "{\"name\":\"a\"},",
          "{\"name\":\"a\"}\f",
          "{\"name\":\"a\",\"name\":\"b\"}",
          "{\"other\":1}",
          "{\"delta\":[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]}",
          "[]",
          "[",
          "1",
          "null",
          "\"x\"",
          "\"x",
          "",
          " ",
          "\ufeff{}",
          "{\0");

  private final long seed = Long.getLong("seed", System.nanoTime());
  private final RandomGenerator random = new Random(seed);

  private static String outcome(Lines.Line line) {
    try {
      return outcome(line.json(FIELDS));
    } catch (Problem e) {
      return "invalid: " + e.getMessage();
    }
  }

  private static String outcome(JsonBody body) {
    return body.has("name") + " " + body.has("delta") + " " + value(body);
  }

  private static String value(JsonBody body) {
    try {
      return body.optionalText("name") + " " + body.optionalNumber("delta");
    } catch (Problem e) {
      return String.valueOf(e.getMessage());
    }
  }

  private static List<String> outcomes(byte[] before, byte[] body, byte[] after) {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    all.writeBytes(before);
    all.writeBytes(body);
    all.writeBytes(after);
    ByteBuffer buffer = ByteBuffer.wrap(all.toByteArray(), before.length, body.length);
    Lines lines = Lines.of(buffer.slice(), Integer.MAX_VALUE);
    List<String> found = new ArrayList<>();
    for (List<Lines.Line> batch = lines.nextBatch(); !batch.isEmpty(); batch = lines.nextBatch()) {
      batch.forEach(line -> found.add(line.number() + " " + outcome(line)));
    }
    return found;
  }

  private static byte[] bytes(String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    for (int i = 0; i + 1 < bytes.length; i++) {
      if (bytes[i] == (byte) 0xc3 && text.hashCode() % 2 == 0) {
        bytes[i + 1] = '?'; // not UTF-8
      }
    }
    return bytes;
  }

  @Test
  void aLineIsTheSameAloneAndAmongOthers() {
    for (int round = 0; round < 2_000; round++) {
      int count = random.nextInt(1, 12);
      ByteArrayOutputStream body = new ByteArrayOutputStream();
      List<String> alone = new ArrayList<>();
      boolean endsWithLineFeed = random.nextBoolean();
      for (int i = 1; i <= count; i++) {
        boolean isUsual = random.nextInt(3) > 0;
        String line = LINES.get(isUsual ? random.nextInt(2) : random.nextInt(LINES.size()));
        if (line.isEmpty() && i == count) {
          line = "{}"; // nothing after the last line feed is no line
        }
        byte[] bytes = bytes(line);
        body.writeBytes(bytes);
        if (i < count || endsWithLineFeed) {
          body.write('\n');
        }
        byte[] single = (line.isEmpty() ? "\n" : line).getBytes(StandardCharsets.UTF_8);
        String one = outcomes(new byte[0], line.isEmpty() ? single : bytes, new byte[0]).getFirst();
        alone.add(i + one.substring(1));
      }
      byte[] around = bytes("}{\"name\":\"beyond\"");
      assertEquals(
          alone,
          outcomes(around, body.toByteArray(), around),
          () -> "seed " + seed + "\n" + body.toString(StandardCharsets.UTF_8));
    }
  }

  @Test
  void anErrorStatesThePlaceInItsLine() {
    byte[] body = bytes("{\"name\":\"a\"}\n{\"name\":\"a\" 1}\n{\"name\":\"b\"}");
    assertEquals(
        List.of(
            "1 true false Optional[a] Optional.empty",
            "2 invalid: the line is not valid JSON: unexpected text at line 1, column 13",
            "3 true false Optional[b] Optional.empty"),
        outcomes(new byte[0], body, new byte[0]));
  }

  @Test
  void tooManyLinesAreRejectedBeforeAnyIsParsed() {
    ByteBuffer body = ByteBuffer.wrap(bytes("{}\n{}\n{}"));
    assertEquals(1, Lines.of(body, 3).nextBatch().getFirst().number());
    assertThrows(Problem.class, () -> Lines.of(body, 2));
  }
}
