package dev.quipu.server.cli.output;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.util.LogbackMDCAdapter;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

final class LogSetupTest {
  @Test
  void anEntryIsOneLineInTheElasticCommonSchema() {
    PrintStream errors = System.err;
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    System.setErr(new PrintStream(out, true, StandardCharsets.UTF_8));
    Instant before = Instant.now().minusMillis(1);
    try {
      LoggerContext context = new LoggerContext();
      context.setMDCAdapter(new LogbackMDCAdapter());
      new LogSetup().configure(context);
      Logger logger = context.getLogger("dev.quipu.test");
      logger
          .atWarn()
          .addKeyValue("store", "a \"b\"\nc")
          .addKeyValue("rounds", 3)
          .setCause(new IllegalStateException("broken"))
          .log("Line 1\nline 2: {}", "argument");
      logger.debug("not logged");
      context.stop();
    } finally {
      System.setErr(errors);
    }
    String text = out.toString(StandardCharsets.UTF_8);
    assertEquals(1, text.lines().count(), text);
    JsonNode entry = JsonMapper.shared().readTree(text);
    Instant time = Instant.parse(entry.path("@timestamp").asString());
    assertTrue(time.isAfter(before) && !time.isAfter(Instant.now()), text);
    assertEquals("WARN", entry.path("log.level").asString());
    assertEquals("dev.quipu.test", entry.path("log.logger").asString());
    assertEquals("quipu", entry.path("service.name").asString());
    assertTrue(entry.path("ecs.version").isString(), text);
    assertEquals("Line 1\nline 2: argument", entry.path("message").asString());
    assertEquals("a \"b\"\nc", entry.path("labels.store").asString());
    assertEquals("3", entry.path("labels.rounds").asString());
    assertEquals("java.lang.IllegalStateException", entry.path("error.type").asString());
    assertEquals("broken", entry.path("error.message").asString());
    assertTrue(entry.path("error.stack_trace").asString().contains("LogSetupTest"), text);
  }
}
