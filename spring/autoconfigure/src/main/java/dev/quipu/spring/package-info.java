/** Configures counters in applications of Spring Boot. */
@NullMarked
package dev.quipu.spring;

import org.jspecify.annotations.NullMarked;
