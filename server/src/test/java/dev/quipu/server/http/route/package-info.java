/** Tests of the routes of the HTTP port. */
@NullMarked
package dev.quipu.server.http.route;

import org.jspecify.annotations.NullMarked;
