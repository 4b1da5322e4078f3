package dev.quipu.spring;

import dev.quipu.Quipu;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;

/** Opens the {@link Quipu} that {@link QuipuProperties} describe, unless there is one. */
@AutoConfiguration
@ConditionalOnClass(Quipu.class)
@EnableConfigurationProperties(QuipuProperties.class)
public final class QuipuAutoConfiguration {
  /** For Spring. */
  public QuipuAutoConfiguration() {}

  /**
   * Opens the counters. They are closed after all {@code Lifecycle} beans were stopped, so after
   * the requests that a web server completes during its graceful shutdown, and after all beans that
   * depend on them.
   */
  @Bean(destroyMethod = "close")
  @ConditionalOnMissingBean
  Quipu quipu(QuipuProperties properties, ObjectProvider<QuipuBuilderCustomizer> customizers) {
    return QuipuOpening.open(properties, customizers.orderedStream());
  }
}
