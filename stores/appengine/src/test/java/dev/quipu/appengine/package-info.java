/** Tests of the driver for App Engine. */
@NullMarked
package dev.quipu.appengine;

import org.jspecify.annotations.NullMarked;
