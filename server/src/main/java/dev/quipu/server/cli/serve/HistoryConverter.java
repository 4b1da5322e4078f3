package dev.quipu.server.cli.serve;

import dev.quipu.engine.history.HistoryRules;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Parses rules of the history, or {@code none}. */
final class HistoryConverter implements ITypeConverter<HistoryRules> {
  @Override
  public HistoryRules convert(String text) {
    try {
      return text.equals("none") ? HistoryRules.none() : HistoryRules.parse(text);
    } catch (IllegalArgumentException e) {
      throw new TypeConversionException(e.getMessage());
    }
  }
}
