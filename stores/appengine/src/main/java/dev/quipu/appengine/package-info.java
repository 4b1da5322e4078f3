/** Store driver for the datastore of App Engine. */
@NullMarked
package dev.quipu.appengine;

import org.jspecify.annotations.NullMarked;
