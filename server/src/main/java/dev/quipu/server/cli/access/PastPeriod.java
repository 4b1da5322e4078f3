package dev.quipu.server.cli.access;

import dev.quipu.server.cli.input.SinceFlags;
import java.util.Optional;

/** A time that is divided into steps, as text that the server parses. */
public record PastPeriod(String step, Optional<String> from, Optional<String> to) {
  /** Returns the time since which changes are asked for; empty if they are not. */
  public static Optional<PastPeriod> since(SinceFlags flags) {
    return flags
        .since()
        .map(since -> new PastPeriod(flags.step(), Optional.of(since), Optional.empty()));
  }
}
