package dev.quipu.testkit.store;

import dev.quipu.store.StoreProfile.Capability;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** Marks a test that a store without these capabilities skips. */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.METHOD)
public @interface Needs {
  /** Returns the required capabilities. */
  Capability[] value();
}
