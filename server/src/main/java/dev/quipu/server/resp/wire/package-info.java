/** The Redis protocol as bytes: requests in, replies out. */
@NullMarked
package dev.quipu.server.resp.wire;

import org.jspecify.annotations.NullMarked;
