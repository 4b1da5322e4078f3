package dev.quipu.store;

/**
 * Items that a store writes one after the other, as Datastore does in an entity group.
 *
 * @param scope how far apart they lie: {@link Atomicity#ITEM} if each item is a group of its own
 * @param writesPerSecond how many the store sustains in one group, by its vendor's word
 */
public record WriteGroup(Atomicity scope, int writesPerSecond) {}
