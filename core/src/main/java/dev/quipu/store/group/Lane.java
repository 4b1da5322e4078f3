package dev.quipu.store.group;

import dev.quipu.store.Key;

/** Adds to one number whose groups are executed one after another. */
record Lane(Key key, int number) {}
