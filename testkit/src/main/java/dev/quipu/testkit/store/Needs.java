package dev.quipu.testkit.store;

import dev.quipu.store.StoreProfile.Capability;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** A test that a store without these capabilities skips, by name. */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.METHOD)
public @interface Needs {
  /** All of these. */
  Capability[] value();
}
