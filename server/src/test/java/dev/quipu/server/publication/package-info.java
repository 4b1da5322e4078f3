/** The rules of Maven Central, and whether what is published obeys them. */
@NullMarked
package dev.quipu.server.publication;

import org.jspecify.annotations.NullMarked;
