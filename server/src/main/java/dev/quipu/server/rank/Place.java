package dev.quipu.server.rank;

import java.math.BigDecimal;

/**
 * A place in a ranking.
 *
 * @param rank by which it is ordered
 */
public record Place(BigDecimal rank, String name) {}
