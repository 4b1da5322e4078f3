package dev.quipu.server.cli.access;

import java.util.Optional;

/**
 * A counter that changed.
 *
 * @param value its present value; empty if it no longer exists
 */
public record Mover(String name, Optional<String> value, String change) {}
