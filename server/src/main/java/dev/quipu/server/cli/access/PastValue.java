package dev.quipu.server.cli.access;

import java.util.Optional;

/**
 * What happened in a step of time.
 *
 * @param from its begin
 * @param value at its end; empty if it is not known, or there was no counter
 * @param change empty if it is not known
 * @param since when the recording began, if that was in the step: the change is since then
 * @param isComplete whether the step is over
 */
public record PastValue(
    String from,
    Optional<String> value,
    Optional<String> change,
    Optional<String> since,
    boolean isComplete) {}
