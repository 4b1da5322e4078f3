package dev.quipu.server.cli.access;

import java.util.Optional;

/** A time that is divided into steps, as text that the server parses. */
public record PastPeriod(String step, Optional<String> from, Optional<String> to) {}
