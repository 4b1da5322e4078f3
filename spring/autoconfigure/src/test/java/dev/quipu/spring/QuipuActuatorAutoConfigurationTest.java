package dev.quipu.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.quipu.Guarantee;
import dev.quipu.Quipu;
import dev.quipu.RequestId;
import dev.quipu.micrometer.QuipuMetrics;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.junit.jupiter.api.Test;
import org.springframework.boot.actuate.autoconfigure.endpoint.EndpointAutoConfiguration;
import org.springframework.boot.actuate.endpoint.InvalidEndpointRequestException;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.micrometer.metrics.autoconfigure.MetricsAutoConfiguration;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** Health, endpoint and meters: their conditions, and what they report. */
final class QuipuActuatorAutoConfigurationTest {
  private static final String EXPOSED = "management.endpoints.web.exposure.include=quipu";

  private final ApplicationContextRunner runner =
      new ApplicationContextRunner()
          .withConfiguration(
              AutoConfigurations.of(
                  QuipuAutoConfiguration.class,
                  QuipuActuatorAutoConfiguration.class,
                  EndpointAutoConfiguration.class,
                  MetricsAutoConfiguration.class))
          .withBean(MeterRegistry.class, SimpleMeterRegistry::new);

  private final ApplicationContextRunner onStore =
      runner.withPropertyValues("quipu.store=memory:store");

  /** Counters of a server that does not respond: nothing listens on the reserved port 1. */
  private final ApplicationContextRunner onServer =
      runner.withPropertyValues("quipu.server=http://127.0.0.1:1", "quipu.timeout=50ms");

  private static void add(Quipu quipu, String counter, long delta) {
    assertThat(quipu.counter(counter).add(delta, RequestId.of("view")).isApplied()).isTrue();
  }

  @Test
  void healthNamesTheStore() {
    onStore.run(context -> {
      Health health = context.getBean(QuipuHealthIndicator.class).health();
      assertThat(health.getStatus()).isEqualTo(Status.UP);
      assertThat(health.getDetails())
          .containsEntry("store", "memory")
          .containsEntry("technique", "marker-item");
    });
  }

  @Test
  void healthIsDownIfCountersDoNotRespond() {
    onServer.run(context -> {
      Health health = context.getBean(QuipuHealthIndicator.class).health();
      assertThat(health.getStatus()).isEqualTo(Status.DOWN);
      assertThat(health.getDetails().get("error")).asString().contains("NotAppliedException");
    });
  }

  @Test
  void healthHasConditions() {
    onStore
        .withPropertyValues("management.health.quipu.enabled=false")
        .run(context -> assertThat(context).doesNotHaveBean(HealthIndicator.class));
    onStore
        .withPropertyValues("management.health.defaults.enabled=false")
        .run(context -> assertThat(context).doesNotHaveBean(HealthIndicator.class));
    onStore
        .withClassLoader(
            new FilteredClassLoader(
                HealthIndicator.class, ConditionalOnEnabledHealthIndicator.class))
        .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean("quipuHealthIndicator"));
    HealthIndicator own = () -> Health.up().build();
    onStore
        .withBean("quipuHealthIndicator", HealthIndicator.class, () -> own)
        .run(context -> assertThat(context).getBean(HealthIndicator.class).isSameAs(own));
  }

  @Test
  void theEndpointDescribesAndReads() {
    onStore
        .withPropertyValues(EXPOSED)
        .run(context -> {
          QuipuEndpoint endpoint = context.getBean(QuipuEndpoint.class);
          QuipuEndpoint.Description description = endpoint.description();
          assertThat(description.store()).isEqualTo("memory");
          assertThat(description.technique()).isEqualTo("marker-item");
          assertThat(description.guarantees())
              .containsEntry(Guarantee.IDEMPOTENT, Guarantee.IDEMPOTENT.sentence());
          assertThat(endpoint.value("article", "42")).isNull();
          add(context.getBean(Quipu.class), "article/42", 3);
          assertThat(endpoint.value("article", "42"))
              .isEqualTo(new QuipuEndpoint.Value("article/42", 3, 3, 3));
          assertThatThrownBy(() -> endpoint.value("x".repeat(513)))
              .isInstanceOf(InvalidEndpointRequestException.class)
              .hasMessage("name is 513 bytes long; the limit is 512");
        });
  }

  @Test
  void actuatorFindsTheNamesOfParameters() throws Exception {
    assertThat(QuipuEndpoint.class.getMethod("value", String[].class).getParameters()[0].getName())
        .isEqualTo("name");
  }

  @Test
  void theEndpointHasConditions() {
    onStore.run(
        context -> assertThat(context).as("not exposed").doesNotHaveBean(QuipuEndpoint.class));
    onStore
        .withPropertyValues(EXPOSED, "management.endpoint.quipu.access=NONE")
        .run(context -> assertThat(context).doesNotHaveBean(QuipuEndpoint.class));
    onStore
        .withPropertyValues(EXPOSED)
        .withClassLoader(new FilteredClassLoader(Endpoint.class))
        .run(context -> assertThat(context).doesNotHaveBean("quipuEndpoint"));
  }

  @Test
  void addsAreMeasured() {
    onStore.run(context -> {
      MeterRegistry registry = context.getBean(MeterRegistry.class);
      add(context.getBean(Quipu.class), "views", 1);
      assertThat(
              registry
                  .get("quipu.adds")
                  .tags("outcome", "applied", "store", "memory", "technique", "marker-item")
                  .counter()
                  .count())
          .isEqualTo(1);
    });
  }

  @Test
  void metersDoNotWaitForAServer() {
    onServer.run(context -> {
      MeterRegistry registry = context.getBean(MeterRegistry.class);
      assertThat(registry.get("quipu.adds").tag("store", "server").counters()).isNotEmpty();
    });
  }

  @Test
  void metersHaveConditions() {
    onStore
        .withClassLoader(new FilteredClassLoader(QuipuMetrics.class))
        .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean("quipuMetrics"));
    onStore
        .withClassLoader(new FilteredClassLoader("io.micrometer"))
        .run(context -> assertThat(context).doesNotHaveBean("quipuMetrics"));
    onStore
        .withBean(
            "own",
            QuipuMetrics.class,
            () -> new QuipuMetrics(Quipu.builder().store("memory:store").build()))
        .run(context -> assertThat(context).hasSingleBean(QuipuMetrics.class).hasBean("own"));
  }

  @Test
  void nothingIsConfiguredWithoutCounters() {
    new ApplicationContextRunner()
        .withConfiguration(AutoConfigurations.of(QuipuActuatorAutoConfiguration.class))
        .withPropertyValues(EXPOSED)
        .run(context ->
            assertThat(context)
                .hasNotFailed()
                .doesNotHaveBean(QuipuMetrics.class)
                .doesNotHaveBean(QuipuEndpoint.class)
                .doesNotHaveBean(HealthIndicator.class));
  }
}
