/** Tests of webhooks. */
@NullMarked
package dev.quipu.server.webhook;

import org.jspecify.annotations.NullMarked;
