/** Tests of what all ports share. */
@NullMarked
package dev.quipu.server.net;

import org.jspecify.annotations.NullMarked;
