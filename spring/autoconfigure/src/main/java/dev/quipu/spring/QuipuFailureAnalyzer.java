package dev.quipu.spring;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Reports why the {@code Quipu} bean could not be created, and what to do. */
final class QuipuFailureAnalyzer extends AbstractFailureAnalyzer<QuipuConfigurationException> {
  @Override
  protected FailureAnalysis analyze(Throwable root, QuipuConfigurationException failure) {
    return new FailureAnalysis(failure.getMessage(), failure.remedy(), failure);
  }
}
