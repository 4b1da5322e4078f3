package dev.quipu.server.cli.serve;

import dev.quipu.engine.Durability;
import dev.quipu.server.cli.input.DurationConverter;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Parses fsync, none, or interval=1s. */
final class DurabilityConverter implements ITypeConverter<Durability> {
  private static final String INTERVAL = "interval=";

  @Override
  public Durability convert(String value) {
    try {
      if (value.startsWith(INTERVAL)) {
        return new Durability.Interval(
            DurationConverter.duration(value.substring(INTERVAL.length())));
      }
      return switch (value) {
        case "fsync" -> Durability.FSYNC;
        case "none" -> Durability.NONE;
        default ->
            throw new IllegalArgumentException(
                "'" + value + "' is not a durability; use fsync, interval=TIME or none");
      };
    } catch (IllegalArgumentException e) {
      throw new TypeConversionException(e.getMessage());
    }
  }
}
