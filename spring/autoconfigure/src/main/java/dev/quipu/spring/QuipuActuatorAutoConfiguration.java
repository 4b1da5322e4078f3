package dev.quipu.spring;

import dev.quipu.Quipu;
import dev.quipu.micrometer.QuipuMetrics;
import io.micrometer.core.instrument.binder.MeterBinder;
import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Health, an endpoint and meters of the {@link Quipu} bean, where their libraries are present. */
@AutoConfiguration(after = QuipuAutoConfiguration.class)
@ConditionalOnClass(Quipu.class)
@ConditionalOnSingleCandidate(Quipu.class)
public final class QuipuActuatorAutoConfiguration {
  /** For Spring. */
  public QuipuActuatorAutoConfiguration() {}

  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass({HealthIndicator.class, ConditionalOnEnabledHealthIndicator.class})
  @ConditionalOnEnabledHealthIndicator("quipu")
  static class HealthConfiguration {
    @Bean
    @ConditionalOnMissingBean(name = {"quipuHealthIndicator", "quipuHealthContributor"})
    HealthIndicator quipuHealthIndicator(Quipu quipu) {
      return new QuipuHealthIndicator(quipu);
    }
  }

  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass({Endpoint.class, ConditionalOnAvailableEndpoint.class})
  @ConditionalOnAvailableEndpoint(QuipuEndpoint.class)
  static class EndpointConfiguration {
    @Bean
    @ConditionalOnMissingBean
    QuipuEndpoint quipuEndpoint(Quipu quipu) {
      return new QuipuEndpoint(quipu);
    }
  }

  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass({MeterBinder.class, QuipuMetrics.class})
  static class MetersConfiguration {
    @Bean
    @ConditionalOnMissingBean
    QuipuMetrics quipuMetrics(Quipu quipu) {
      return new QuipuMetrics(quipu);
    }
  }
}
