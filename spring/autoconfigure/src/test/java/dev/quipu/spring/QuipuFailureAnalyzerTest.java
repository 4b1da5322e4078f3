package dev.quipu.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.quipu.Quipu;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.Banner;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.core.io.ClassPathResource;

/** What an application prints that cannot start, for each cause. */
@ExtendWith(OutputCaptureExtension.class)
final class QuipuFailureAnalyzerTest {
  @TempDir Path directory;

  private final ApplicationContextRunner runner =
      new ApplicationContextRunner()
          .withConfiguration(AutoConfigurations.of(QuipuAutoConfiguration.class));

  private static FailureAnalysis analysis(ApplicationContextRunner runner) {
    FailureAnalysis[] found = new FailureAnalysis[1];
    runner.run(context -> {
      Throwable failure = context.getStartupFailure();
      assertThat(failure).isNotNull();
      found[0] = new QuipuFailureAnalyzer().analyze(Objects.requireNonNull(failure));
    });
    return Objects.requireNonNull(found[0]);
  }

  private FailureAnalysis analysis(String... properties) {
    return analysis(runner.withPropertyValues(properties));
  }

  @Test
  void exactlyOnePlaceIsNeeded() {
    FailureAnalysis none = analysis();
    assertThat(none.getDescription())
        .isEqualTo("None of quipu.directory, quipu.store and quipu.server is set.");
    assertThat(none.getAction()).startsWith("Set exactly one of quipu.directory");
    FailureAnalysis two = analysis("quipu.directory=" + directory, "quipu.server=http://a:7080");
    assertThat(two.getDescription())
        .isEqualTo("quipu.directory and quipu.server are set; an application counts in one place.");
    assertThat(directory).isEmptyDirectory();
  }

  @Test
  void propertiesOfAnotherPlaceAreRejected() {
    String place = "quipu.directory=" + directory;
    assertThat(analysis(place, "quipu.token=secret").getDescription())
        .isEqualTo("quipu.token is set without quipu.server, and would have no effect.");
    assertThat(analysis(place, "quipu.timeout=5s").getAction())
        .isEqualTo("Remove quipu.timeout, or set quipu.server.");
    assertThat(analysis(place, "quipu.trusted-certificates=ca.pem").getDescription())
        .contains("quipu.trusted-certificates");
    assertThat(analysis(place, "quipu.technique=atomic-add").getAction())
        .isEqualTo("Remove quipu.technique, or set quipu.store.");
    assertThat(analysis("quipu.server=http://a:7080", "quipu.request-id-retention=1h").getAction())
        .isEqualTo("Remove quipu.request-id-retention, or set quipu.directory or quipu.store.");
    assertThat(directory).isEmptyDirectory();
  }

  @Test
  void timesHaveLimits() {
    FailureAnalysis retention =
        analysis("quipu.directory=" + directory, "quipu.request-id-retention=367d");
    assertThat(retention.getDescription())
        .isEqualTo("quipu.request-id-retention is 367d, which is out of its limits.");
    assertThat(retention.getAction())
        .isEqualTo("Set quipu.request-id-retention to a time from 1s to 366d.");
    assertThat(analysis("quipu.server=http://a:7080", "quipu.timeout=0s").getAction())
        .isEqualTo("Set quipu.timeout to a time from 1ms to 24h.");
  }

  @Test
  void aMissingModuleIsNamed() {
    ClassPathResource openers = new ClassPathResource("META-INF/services/dev.quipu.Quipu$Opener");
    FailureAnalysis module =
        analysis(
            runner
                .withPropertyValues("quipu.directory=" + directory)
                .withClassLoader(new FilteredClassLoader(openers)));
    assertThat(module.getDescription()).contains("dev.quipu:quipu-engine is not on the class path");
    assertThat(module.getAction()).contains("quipu-spring-boot-starter");
    FailureAnalysis store = analysis("quipu.store=redis://127.0.0.1");
    assertThat(store.getDescription()).contains("unknown store scheme 'redis'");
    assertThat(store.getAction()).contains("dev.quipu:quipu-redis");
  }

  @Test
  void aPlaceThatCannotBeOpenedIsNamed() throws Exception {
    try (Quipu other = Quipu.builder().directory(directory).build()) {
      FailureAnalysis locked = analysis("quipu.directory=" + directory);
      assertThat(locked.getDescription()).startsWith("Counters of quipu.directory");
      assertThat(locked.getAction()).contains("no other process uses");
      assertThat(other.counters().read("views")).isEmpty();
    }
    assertThat(analysis("quipu.store=memory:store", "quipu.technique=none").getAction())
        .contains("quipu.technique");
    FailureAnalysis certificates =
        analysis(
            "quipu.server=https://a:7080",
            "quipu.trusted-certificates=" + Files.createFile(directory.resolve("ca.pem")));
    assertThat(certificates.getAction()).contains("quipu.trusted-certificates");
    assertThat(analysis("quipu.server=redis://a:7080").getDescription())
        .contains("must be like http://127.0.0.1:7080");
  }

  @Test
  void anApplicationPrintsTheAnalysis(CapturedOutput output) {
    SpringApplication application = new SpringApplication(QuipuAutoConfiguration.class);
    application.setWebApplicationType(WebApplicationType.NONE);
    application.setBannerMode(Banner.Mode.OFF);
    application.setRegisterShutdownHook(false);
    assertThat(catchThrowable(application::run)).isNotNull();
    assertThat(output)
        .contains("APPLICATION FAILED TO START")
        .contains("None of quipu.directory, quipu.store and quipu.server is set.")
        .contains("Set exactly one of quipu.directory");
  }
}
