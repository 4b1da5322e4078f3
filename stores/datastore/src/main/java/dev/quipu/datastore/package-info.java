/** Store driver for Google Cloud Datastore. */
@NullMarked
package dev.quipu.datastore;

import org.jspecify.annotations.NullMarked;
