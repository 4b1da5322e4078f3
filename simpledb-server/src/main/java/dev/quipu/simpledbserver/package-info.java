/**
 * A SimpleDB server for tests, since the real service accepts no new customers. It implements the
 * wire protocol, errors and limits, and injects faults: lagging replicas, errors before and after a
 * write was applied, and lost replies.
 */
@NullMarked
package dev.quipu.simpledbserver;

import org.jspecify.annotations.NullMarked;
