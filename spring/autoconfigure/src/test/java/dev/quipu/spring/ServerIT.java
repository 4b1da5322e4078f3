package dev.quipu.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.quipu.NotAppliedException;
import dev.quipu.Quipu;
import dev.quipu.Reason;
import dev.quipu.RequestId;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.actuate.autoconfigure.endpoint.EndpointAutoConfiguration;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** An application that counts on a running server, which expects a token. */
final class ServerIT {
  private static final Path JAR = Path.of("../../server/target/quipu.jar");
  private static final Pattern READY = Pattern.compile("quipu is ready: (http://[^,]+),.*");
  private static final String TOKEN = "secret-of-this-test";

  @TempDir Path directory;
  private Process server;
  private ApplicationContextRunner runner;

  @SuppressWarnings("NullAway.Init") // JUnit calls serve before each test
  ServerIT() {}

  @BeforeEach
  void serve() throws Exception {
    assertThat(JAR).as("mvn -pl server -am package builds it").exists();
    Path token = Files.writeString(directory.resolve("token"), TOKEN);
    server =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx256m",
                "-XX:TieredStopAtLevel=1",
                "-jar",
                JAR.toString(),
                "serve",
                "--data=" + directory.resolve("data"),
                "--http=0",
                "--token-file=" + token)
            .redirectErrorStream(true)
            .start();
    // Nothing listens on the reserved port 1, so the second server is used.
    runner =
        new ApplicationContextRunner()
            .withConfiguration(
                AutoConfigurations.of(
                    QuipuAutoConfiguration.class,
                    QuipuActuatorAutoConfiguration.class,
                    EndpointAutoConfiguration.class))
            .withPropertyValues(
                "quipu.server=http://127.0.0.1:1," + address(server), "quipu.token=" + TOKEN);
  }

  private static String address(Process server) throws IOException {
    StringBuilder output = new StringBuilder();
    BufferedReader lines =
        new BufferedReader(new InputStreamReader(server.getInputStream(), StandardCharsets.UTF_8));
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      Matcher ready = READY.matcher(line);
      if (ready.matches()) {
        return ready.group(1);
      }
      output.append(line).append('\n');
    }
    throw new IllegalStateException("the server did not start:\n" + output);
  }

  @AfterEach
  void kill() throws Exception {
    server.destroyForcibly().waitFor();
  }

  @Test
  void countsOnceOverARestartOfTheApplication() {
    for (boolean isRestarted : new boolean[] {false, true}) {
      runner.run(context -> {
        Quipu quipu = context.getBean(Quipu.class);
        var added = quipu.counter("orders").add(2, RequestId.of("order-1")).orElseThrow();
        assertThat(added.isReplayed()).isEqualTo(isRestarted);
        assertThat(quipu.counter("orders").read().orElseThrow().value()).isEqualTo(2);
        Health health = context.getBean(QuipuHealthIndicator.class).health();
        assertThat(health.getStatus()).isEqualTo(Status.UP);
        assertThat(health.getDetails())
            .containsEntry("store", "server")
            .containsEntry("technique", "engine");
      });
    }
  }

  @Test
  void sendsTheToken() {
    runner
        .withPropertyValues("quipu.token=another")
        .run(context -> {
          Quipu quipu = context.getBean(Quipu.class);
          assertThatThrownBy(() -> quipu.counter("orders").add(1, RequestId.of("order-1")))
              .isInstanceOfSatisfying(
                  NotAppliedException.class, e -> assertThat(e.reason()).isEqualTo(Reason.DENIED));
        });
  }
}
