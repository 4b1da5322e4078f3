package dev.quipu.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Add;
import dev.quipu.AddResult;
import dev.quipu.Decimal;
import dev.quipu.ItemResult;
import dev.quipu.Quipu;
import dev.quipu.RequestId;
import dev.quipu.server.resp.RawClient;
import dev.quipu.testkit.pace.Soak;
import java.io.BufferedWriter;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Random amounts of cents over HTTP, RESP, the Java client and the command line: the value of the
 * counter equals their sum as a {@link BigDecimal}, also after the server was killed. {@code
 * -Dquipu.decimals=10000000} sets their number; each port adds a quarter.
 */
final class DecimalsIT {
  private static final int AMOUNTS =
      Integer.getInteger("quipu.decimals", Soak.size(20_000, 1_000_000));
  private static final int BATCH = 1_000;
  private static final String COUNTER = "budget/all";

  @TempDir Path directory;

  private final SplittableRandom random = new SplittableRandom(Long.getLong("seed", 59));
  private BigDecimal sum = BigDecimal.ZERO;

  /** Returns an amount of 0.01 to 9,999.99, of either sign, as text, and adds it to the sum. */
  private String amount() {
    long cents = random.nextLong(1, 1_000_000);
    BigDecimal amount = BigDecimal.valueOf(random.nextBoolean() ? cents : -cents, 2);
    sum = sum.add(amount);
    return amount.toPlainString();
  }

  private QuipuProcess serve(String... more) throws IOException {
    List<String> options =
        new ArrayList<>(List.of("--data", directory.resolve("data").toString(), "--resp", "0"));
    options.addAll(List.of(more));
    return QuipuProcess.serve(directory.resolve("out"), options.toArray(String[]::new));
  }

  @Test
  void randomCentsEqualTheDecimalSum() throws Exception {
    int each = Math.max(BATCH, AMOUNTS / 4 / BATCH * BATCH);
    try (QuipuProcess server = serve("--scale", "budget/*=2")) {
      for (int done = 0; done < each; done += BATCH) {
        overHttp(server);
      }
      assertEquals(sum, new BigDecimal(value(server)));
      try (RawClient redis = new RawClient(server.redisPort())) {
        for (int done = 0; done < each; done += BATCH) {
          overResp(redis);
        }
      }
      assertEquals(sum, new BigDecimal(value(server)));
      try (Quipu quipu = Quipu.connect(server.uri())) {
        for (int done = 0; done < each; done += BATCH) {
          overJava(quipu);
        }
      }
      assertEquals(sum, new BigDecimal(value(server)));
      overCommandLine(server, each);
      assertEquals(sum, new BigDecimal(value(server)));
    }
    try (QuipuProcess server = serve()) { // the first was killed; and there is no rule now
      assertEquals(sum.toPlainString(), value(server));
    }
    System.out.printf("DecimalsIT: %d amounts, sum %s%n", 4L * each, sum);
  }

  private static String value(QuipuProcess server) throws Exception {
    String body = server.send("/v1/counters/budget%2Fall", "").body();
    return body.replaceAll(".*\"value\":\"([^\"]*)\".*", "$1");
  }

  private void overHttp(QuipuProcess server) throws Exception {
    StringBuilder lines = new StringBuilder();
    for (int i = 0; i < BATCH; i++) {
      String quote = i % 2 == 0 ? "" : "\""; // numbers and strings are both parsed exactly
      lines
          .append("{\"name\":\"" + COUNTER + "\",\"delta\":")
          .append(quote)
          .append(amount())
          .append(quote)
          .append("}\n");
    }
    QuipuProcess.Answer answer = server.sendLines("/v1/counters/bulk", lines.toString());
    assertEquals(BATCH, answer.body().lines().filter(line -> line.contains(":200,")).count());
  }

  private void overResp(RawClient redis) throws IOException {
    StringBuilder commands = new StringBuilder();
    for (int i = 0; i < BATCH; i++) {
      commands.append("INCRBYFLOAT ").append(COUNTER).append(' ').append(amount()).append("\r\n");
    }
    redis.send(commands.toString());
    String last = "";
    for (int i = 0; i < BATCH; i++) {
      last = redis.answer();
    }
    assertEquals(sum, new BigDecimal(last.split("\r\n", -1)[1]));
  }

  private void overJava(Quipu quipu) {
    List<Add> adds = new ArrayList<>();
    for (int i = 0; i < BATCH; i++) {
      Decimal delta = Decimal.of("delta", new BigDecimal(amount()));
      adds.add(
          i % 2 == 0
              ? Add.of(COUNTER, delta, null, null, RequestId.random())
              : new Add(COUNTER, delta.units(), RequestId.random())); // in units: the same
    }
    for (ItemResult result : quipu.counters().addAll(adds)) {
      assertTrue(result.result() instanceof AddResult.Applied, result::toString);
    }
  }

  private void overCommandLine(QuipuProcess server, int amounts) throws Exception {
    Path file = directory.resolve("amounts.ndjson");
    try (BufferedWriter lines = Files.newBufferedWriter(file)) {
      for (int i = 0; i < amounts - 1; i++) {
        lines.write("{\"name\":\"%s\",\"delta\":%s}%n".formatted(COUNTER, amount()));
      }
    }
    String uri = server.uri().toString();
    Path out = directory.resolve("cli");
    Process load =
        QuipuProcess.run(out, "import", "--server", uri, "--format", "ndjson", file.toString());
    assertEquals(0, load.waitFor(), () -> errors(load));
    Process add = QuipuProcess.run(out, "add", "--server", uri, COUNTER, amount());
    assertEquals(0, add.waitFor(), () -> errors(add));
    assertEquals(sum.toPlainString(), Files.readAllLines(out).getLast());
  }

  private static String errors(Process process) {
    return process.errorReader().lines().toList().toString();
  }
}
