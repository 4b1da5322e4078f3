package dev.quipu.server;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.quipu.simulation.proxy.FaultProxy;
import dev.quipu.simulation.proxy.HttpProtocol;
import dev.quipu.testservers.Tool;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Runs the clients in {@code clients/} by the scripts in {@code src/test/clients}. */
record ClientScripts(NodeProject project) {
  static final String LONG = "3600000"; // ms, for calls that succeed
  static final String SHORT = "1500"; // ms, for calls that do not
  static final String NO_TOKEN = "-";

  /** Compiles the TypeScript client, which must be free of type errors. */
  static ClientScripts compile() throws IOException, InterruptedException {
    NodeProject project = NodeProject.install("clients");
    for (String file : List.of("typescript/quipu.ts", "python/quipu.py")) {
      Path from = Path.of("../clients", file);
      Path to = project.directory().resolve(from.getFileName());
      Files.deleteIfExists(to);
      Files.copy(from, to);
    }
    List<String> command =
        List.of(
            project.node(),
            "node_modules/typescript/bin/tsc",
            "--strict",
            "--noUncheckedIndexedAccess",
            "--exactOptionalPropertyTypes",
            "--noPropertyAccessFromIndexSignature",
            "--erasableSyntaxOnly", // so that Node runs it without a compiler
            "--rewriteRelativeImportExtensions",
            "--target",
            "es2022",
            "--module",
            "esnext",
            "--moduleResolution",
            "bundler",
            "calls.ts");
    try (ToolProcess process = ToolProcess.start(project.directory(), command)) {
      process.await(0);
    }
    return new ClientScripts(project);
  }

  static String tool(String name) {
    Optional<String> tool = Tool.find(name);
    assumeTrue(tool.isPresent(), "no %s on this machine: ./dev deps installs it".formatted(name));
    return tool.orElseThrow();
  }

  static String url(int port) {
    return "http://127.0.0.1:" + port;
  }

  static FaultProxy proxy(QuipuProcess server) {
    return FaultProxy.start(
        new HttpProtocol(), server.uri().getPort(), Duration.ofSeconds(1), write -> 1);
  }

  Path directory() {
    return project.directory();
  }

  ToolProcess start(
      ClientLanguage language,
      Path client,
      String url,
      String token,
      String millis,
      List<String> call)
      throws IOException {
    List<String> command =
        new ArrayList<>(
            language == ClientLanguage.PYTHON
                ? List.of(tool("python3"), client.resolve("calls.py").toString())
                : List.of(project.node(), client.resolve("calls.js").toString()));
    command.addAll(List.of(url, token, millis));
    command.addAll(call);
    return ToolProcess.start(client, command);
  }

  List<String> run(ClientLanguage language, String url, String millis, String... call)
      throws Exception {
    return run(language, directory(), url, NO_TOKEN, millis, List.of(call));
  }

  List<String> run(
      ClientLanguage language,
      Path client,
      String url,
      String token,
      String millis,
      List<String> call)
      throws Exception {
    try (ToolProcess process = start(language, client, url, token, millis, call)) {
      return List.copyOf(process.await(0));
    }
  }
}
