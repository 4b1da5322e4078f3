/** Requests and replies of the HTTP port, and the memory that they reserve. */
@NullMarked
package dev.quipu.server.http.message;

import org.jspecify.annotations.NullMarked;
