/** Tests of the messages of the HTTP port. */
@NullMarked
package dev.quipu.server.http.message;

import org.jspecify.annotations.NullMarked;
