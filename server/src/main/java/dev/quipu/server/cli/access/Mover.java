package dev.quipu.server.cli.access;

import java.util.Optional;

/**
 * A counter that changed.
 *
 * @param value its present value; empty if it no longer exists
 * @param since when the change begins: a boundary, or when the first recording began
 */
public record Mover(String name, Optional<String> value, String change, String since) {}
