/** Tests of the client, on running servers. */
@NullMarked
package dev.quipu.client;

import org.jspecify.annotations.NullMarked;
