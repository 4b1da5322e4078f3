package dev.quipu.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.quipu.NotAppliedException;
import dev.quipu.Quipu;
import dev.quipu.RequestId;
import dev.quipu.backend.Backends;
import dev.quipu.memory.MemoryDriver;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.SpringBootVersion;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** When the configuration creates counters, where, and when it closes them. */
final class QuipuAutoConfigurationTest {
  @TempDir Path directory;

  private final ApplicationContextRunner runner =
      new ApplicationContextRunner()
          .withConfiguration(AutoConfigurations.of(QuipuAutoConfiguration.class));

  private ApplicationContextRunner onDirectory() {
    return runner.withPropertyValues("quipu.directory=" + directory);
  }

  @Test
  void runsOnTheVersionThatTheBuildNames() {
    String version = System.getProperty("spring-boot.version", SpringBootVersion.getVersion());
    assertThat(SpringBootVersion.getVersion()).isEqualTo(version);
  }

  @Test
  void countsInADirectory() {
    for (int run = 1; run <= 2; run++) {
      int expected = run;
      onDirectory()
          .run(context -> {
            Quipu quipu = context.getBean(Quipu.class);
            assertThat(quipu.counters().technique()).isEqualTo("engine");
            RequestId id = RequestId.of("run-" + expected);
            assertThat(quipu.counter("views").add(1, id).orElseThrow().value())
                .as("the directory was closed, and has what the first run counted")
                .isEqualTo(expected);
          });
    }
  }

  @Test
  void countsOnAStoreByATechnique() {
    ApplicationContextRunner onStore = runner.withPropertyValues("quipu.store=memory:store");
    onStore.run(context ->
        assertThat(context.getBean(Quipu.class).counters().technique()).isEqualTo("marker-item"));
    onStore
        .withPropertyValues("quipu.technique=token-set")
        .run(context ->
            assertThat(context.getBean(Quipu.class).counters().technique()).isEqualTo("token-set"));
  }

  @Test
  void doesNotConnectToAServerBeforeTheFirstCall() {
    // Nothing listens on the reserved port 1.
    runner
        .withPropertyValues(
            "quipu.server=http://127.0.0.1:1,http://localhost:1",
            "quipu.token=secret",
            "quipu.timeout=50ms")
        .run(context -> {
          Quipu quipu = context.getBean(Quipu.class);
          assertThatThrownBy(() -> quipu.counter("views").read())
              .isInstanceOf(NotAppliedException.class);
        });
  }

  @Test
  void doesNotPrintSecrets() {
    assertThat(
            new QuipuProperties(
                null, "redis://:hidden@localhost", List.of(), "hidden", null, null, null, null))
        .hasToString("QuipuProperties[quipu.store]");
  }

  @Test
  void backsOffForABeanOfTheApplication() {
    Quipu own = Backends.on(new MemoryDriver());
    onDirectory()
        .withBean(Quipu.class, () -> own)
        .run(context -> assertThat(context).getBean(Quipu.class).isSameAs(own));
    runner
        .withBean(Quipu.class, () -> own)
        .run(context -> assertThat(context).as("needs no property").hasNotFailed());
  }

  @Test
  void needsQuipuOnTheClassPath() {
    onDirectory()
        .withClassLoader(new FilteredClassLoader(Quipu.class))
        .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean("quipu"));
  }

  @Test
  void customizersChangeTheBuilderLast() {
    runner
        .withPropertyValues("quipu.store=memory:store", "quipu.technique=token-set")
        .withBean(QuipuBuilderCustomizer.class, () -> builder -> builder.technique("optimistic"))
        .run(context ->
            assertThat(context.getBean(Quipu.class).counters().technique())
                .isEqualTo("optimistic"));
  }

  /** Counts when it is stopped and closed, like a request that a web server completes. */
  static final class LateCaller implements SmartLifecycle, AutoCloseable {
    private final Quipu quipu;
    private final List<Long> values = new ArrayList<>();
    private boolean running;

    LateCaller(Quipu quipu) {
      this.quipu = quipu;
    }

    private void count(String id) {
      values.add(quipu.counter("late").add(1, RequestId.of(id)).orElseThrow().value());
    }

    @Override
    public int getPhase() {
      return Integer.MIN_VALUE; // stopped last
    }

    @Override
    public void start() {
      running = true;
    }

    @Override
    public boolean isRunning() {
      return running;
    }

    @Override
    public void stop() {
      running = false;
      count("stop");
    }

    @Override
    public void close() {
      count("close");
    }
  }

  @Configuration(proxyBeanMethods = false)
  static class LateCalls {
    @Bean
    LateCaller caller(Quipu quipu) {
      return new LateCaller(quipu);
    }
  }

  @Test
  void isClosedAfterAllOthersWereStopped() {
    List<LateCaller> callers = new ArrayList<>();
    onDirectory()
        .withUserConfiguration(LateCalls.class)
        .run(context -> callers.add(context.getBean(LateCaller.class)));
    assertThat(callers.getFirst().values).containsExactly(1L, 2L);
    assertThatThrownBy(() -> callers.getFirst().count("too late"))
        .as("the counters are closed at the end")
        .isInstanceOf(NotAppliedException.class);
  }
}
