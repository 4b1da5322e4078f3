package dev.quipu.spring;

import dev.quipu.Quipu;

/** Changes the builder of the {@link Quipu} bean, after the properties were applied to it. */
@FunctionalInterface
public interface QuipuBuilderCustomizer {
  /** Changes the builder, for example to set a token from a vault. */
  void customize(Quipu.Builder builder);
}
