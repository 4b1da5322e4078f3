package dev.quipu.simpledb;

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** A client in another language: a script with calls and replies as lines of JSON. */
final class ScriptClient implements ForeignClient {
  private final Process process;
  private final BufferedWriter calls;
  private final BufferedReader answers;

  /** Starts a command, with the endpoint and the credentials as arguments. */
  ScriptClient(List<String> command, Map<String, String> environment, List<String> arguments) {
    List<String> all = new ArrayList<>(command);
    all.addAll(arguments);
    try {
      ProcessBuilder builder =
          new ProcessBuilder(all).redirectError(ProcessBuilder.Redirect.INHERIT);
      builder.environment().putAll(environment);
      process = builder.start();
    } catch (IOException e) {
      throw new UncheckedIOException("cannot start " + command, e);
    }
    calls = process.outputWriter(StandardCharsets.UTF_8);
    answers = process.inputReader(StandardCharsets.UTF_8);
  }

  static Path script(String name) {
    return Path.of("src/test/resources/clients", name).toAbsolutePath();
  }

  @Override
  public JsonNode call(String action, JsonNode parameters) throws IOException {
    ObjectNode call = JSON.createObjectNode();
    call.put("action", action).set("parameters", parameters);
    calls.write(JSON.writeValueAsString(call));
    calls.newLine();
    calls.flush();
    String answer = answers.readLine();
    if (answer == null) {
      throw new IOException("the client exited at " + action);
    }
    return JSON.readTree(answer);
  }

  @Override
  public void close() {
    process.destroyForcibly();
  }
}
