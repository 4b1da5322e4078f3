/** Events and queues, against a real SQS server. */
@NullMarked
package dev.quipu.ingest;

import org.jspecify.annotations.NullMarked;
