/** Tests. */
@NullMarked
package dev.quipu.server.http;

import org.jspecify.annotations.NullMarked;
