/**
 * A SimpleDB server for tests, since no real one can be had: the real wire protocol, errors and
 * limits, and what a real one shows seldom: replicas that lag, errors before and after a write was
 * applied, and replies that are lost.
 */
@NullMarked
package dev.quipu.verify.simpledb;

import org.jspecify.annotations.NullMarked;
