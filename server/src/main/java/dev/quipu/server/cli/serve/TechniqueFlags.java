package dev.quipu.server.cli.serve;

import dev.quipu.backend.TechniqueOptions;
import dev.quipu.layer.Store;
import dev.quipu.technique.AtomicAdd.AfterUnknown;
import dev.quipu.technique.ItemCollection;
import dev.quipu.technique.Technique;
import dev.quipu.technique.TokenSet;
import dev.quipu.threshold.Thresholds;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;
import picocli.CommandLine.TypeConversionException;

/** Options of single techniques. */
public final class TechniqueFlags {
  private static final String COUNTER = "counter";

  @Option(
      names = "--after-unknown",
      paramLabel = "ACTION",
      converter = ActionConverter.class,
      description =
          "After an unknown outcome, atomic-add gives up, and may count too little, or retries, and"
              + " may count too much and supports no bounds: give-up, retry (default give-up).")
  private @Nullable AfterUnknown afterUnknown;

  @Option(
      names = "--slots",
      paramLabel = "N",
      description =
          "Maximum number of requests of each counter of token-set, 1 to "
              + TokenSet.SLOTS_MAX
              + " (default "
              + TokenSet.SLOTS
              + ").")
  private @Nullable Integer slots;

  @Option(
      names = "--markers",
      converter = MarkersConverter.class,
      paramLabel = "WHERE",
      description =
          "Where marker-item stores its markers: counter, in the partition of the counter;"
              + " partition, each in its own; table:NAME, in another table of DynamoDB (default"
              + " counter).")
  private String markers = COUNTER;

  @Option(
      names = "--threshold",
      paramLabel = "N",
      split = ",",
      description =
          "With item-collection: log each crossing of this value by any counter, at least once"
              + " under one id, when a read or a compaction observes it; may be repeated.")
  private List<Long> thresholds = List.of();

  /** Starts to observe counters for the thresholds, if there are any. */
  void observe(Technique counters, Store store) {
    if (thresholds.isEmpty()) {
      return;
    }
    if (!(counters instanceof ItemCollection collection)) {
      throw new IllegalArgumentException(
          "--threshold needs --technique item-collection; with %s, use bounds"
              .formatted(counters.spec().name()));
    }
    collection.observe(new Thresholds(store, thresholds, Thresholds.logging()));
  }

  boolean areSet() {
    return !thresholds.isEmpty()
        || afterUnknown != null
        || slots != null
        || !markers.equals(COUNTER);
  }

  TechniqueOptions keeping(Duration window) {
    Integer count = slots;
    return new TechniqueOptions(
        Optional.of(window),
        Optional.ofNullable(afterUnknown),
        count == null ? OptionalInt.empty() : OptionalInt.of(count),
        Optional.of(markers).filter(where -> !where.equals(COUNTER)));
  }

  /** Parses give-up, or retry. */
  static final class ActionConverter implements ITypeConverter<AfterUnknown> {
    @Override
    public AfterUnknown convert(String value) {
      return switch (value) {
        case "give-up" -> AfterUnknown.GIVE_UP;
        case "retry" -> AfterUnknown.REPEAT;
        default ->
            throw new TypeConversionException(
                "'" + value + "' is not an action; use give-up or retry");
      };
    }
  }

  /** Checks the place of markers. */
  static final class MarkersConverter implements ITypeConverter<String> {
    @Override
    public String convert(String value) {
      if (!value.equals(COUNTER) && !value.equals("partition") && !value.startsWith("table:")) {
        throw new TypeConversionException(
            "'" + value + "' is not a place; use counter, partition or table:NAME");
      }
      return value;
    }
  }
}
