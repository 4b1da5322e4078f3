package dev.quipu.engine.state;

import org.jspecify.annotations.Nullable;

/** The content of an ordinal of a {@link CounterTable} when it was read. */
public final class CounterContent {
  public final String name;
  public final boolean isWritten;
  public final long value;
  public final byte @Nullable [] text; // null for a number
  public final long expiresAt;
  public final int scale;
  public final boolean hasIds;

  CounterContent(CounterTable table, int ordinal, String name, boolean hasIds) {
    this.name = name;
    this.hasIds = hasIds;
    this.isWritten = table.isWritten(ordinal);
    this.value = table.value(ordinal);
    this.text = table.text(ordinal);
    this.expiresAt = table.expiresAt(ordinal);
    this.scale = table.scale(ordinal);
  }
}
