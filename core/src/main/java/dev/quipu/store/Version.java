package dev.quipu.store;

/**
 * One state of one item. No two states of a key have the same version, not even across a delete.
 *
 * @param token chosen by the driver; compared, never interpreted
 */
public record Version(String token) {}
