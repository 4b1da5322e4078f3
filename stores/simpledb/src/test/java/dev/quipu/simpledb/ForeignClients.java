package dev.quipu.simpledb;

import static org.junit.jupiter.api.Assumptions.abort;

import dev.quipu.simpledbserver.SimpleDbServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** Three third-party clients. */
enum ForeignClients {
  SDK_FOR_JAVA {
    @Override
    ForeignClient open(String endpoint, String secret) {
      return new SdkClient(endpoint, KEY, secret);
    }
  },
  BOTOCORE {
    @Override
    ForeignClient open(String endpoint, String secret) throws Exception {
      if (run(List.of(PYTHON, "-c", "import botocore"), Path.of(".")) != 0) {
        if ("true".equals(System.getenv("CI"))) {
          throw new IllegalStateException(
              "botocore is missing: ./dev deps installs python3-botocore");
        }
        abort("no botocore: install python3-botocore");
      }
      List<String> command = List.of(PYTHON, ScriptClient.script("client.py").toString());
      return new ScriptClient(command, Map.of(), List.of(endpoint, KEY, secret));
    }
  },
  AWS_SDK_OF_NPM {
    @Override
    ForeignClient open(String endpoint, String secret) throws Exception {
      Path modules = installed();
      List<String> command = List.of("node", ScriptClient.script("client.js").toString());
      Map<String, String> environment =
          Map.of(
              "NODE_PATH", modules.toString(), "AWS_SDK_JS_SUPPRESS_MAINTENANCE_MODE_MESSAGE", "1");
      return new ScriptClient(command, environment, List.of(endpoint, KEY, secret));
    }
  };

  static final String KEY = "key";
  static final String SECRET = "secret";
  private static final String PYTHON = "/usr/bin/python3";
  private static final String PACKAGE = "aws-sdk@2.1693.0";
  private static final int INSTALL_MINUTES_MAX = 30; // npm has a shorter timeout

  abstract ForeignClient open(String endpoint, String secret) throws Exception;

  ForeignClient open(SimpleDbServer server) throws Exception {
    return open(server.endpoint().toString(), SECRET);
  }

  /**
   * Not in a Debian package; npm fetches it. In CI that must work; elsewhere the test is skipped.
   */
  private static Path installed() throws IOException, InterruptedException {
    Path directory = Files.createDirectories(Path.of("target/npm").toAbsolutePath());
    Path modules = directory.resolve("node_modules");
    if (!Files.exists(modules.resolve("aws-sdk/package.json"))) {
      List<String> install =
          List.of("npm", "install", "--no-save", "--ignore-scripts", "--no-audit", "--no-fund");
      List<String> command = new ArrayList<>(install);
      command.add(PACKAGE);
      Files.writeString(directory.resolve("package.json"), "{}");
      if (run(command, directory) != 0) {
        if ("true".equals(System.getenv("CI"))) {
          throw new IllegalStateException("npm cannot install " + PACKAGE);
        }
        abort("npm cannot install " + PACKAGE);
      }
    }
    return modules;
  }

  /** Returns the exit code; 127 if the command is missing. */
  private static int run(List<String> command, Path directory)
      throws IOException, InterruptedException {
    Process process;
    try {
      process =
          new ProcessBuilder(command)
              .directory(directory.toFile())
              .redirectErrorStream(true)
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .start();
    } catch (IOException e) {
      return 127;
    }
    if (!process.waitFor(INSTALL_MINUTES_MAX, TimeUnit.MINUTES)) {
      process.destroyForcibly();
      return 1;
    }
    return process.exitValue();
  }
}
