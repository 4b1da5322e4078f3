package dev.quipu.testkit.scenario;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.api.parallel.Resources;

/** The command line of the simulation. */
@ResourceLock(Resources.SYSTEM_ERR)
final class StepsMainTest {
  private static String failure(String... arguments) throws Exception {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    PrintStream before = System.err;
    System.setErr(new PrintStream(bytes, true, StandardCharsets.UTF_8));
    try {
      assertEquals(2, StepsMain.run(arguments));
    } finally {
      System.setErr(before);
    }
    return bytes.toString(StandardCharsets.UTF_8);
  }

  @Test
  void aScenarioThatDoesNotExistIsAnErrorWithTheNamesOfAll() throws Exception {
    String said = failure("--scenario", "nosuch");
    assertTrue(said.contains("no scenario has the name 'nosuch'"), said);
    for (String name : Scenarios.all().keySet()) {
      assertTrue(said.contains("  " + name), said);
    }
  }

  @Test
  void wrongArgumentsAreExplained() throws Exception {
    assertTrue(failure("--scenario", "[").contains("not a regular expression"));
    assertTrue(failure("--seeds", "0").contains("Usage:"));
    assertTrue(failure("--nosuch").contains("Usage:"));
  }
}
