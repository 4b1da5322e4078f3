/** Tests of the server as a whole, and of the tree. */
@NullMarked
package dev.quipu.server;

import org.jspecify.annotations.NullMarked;
