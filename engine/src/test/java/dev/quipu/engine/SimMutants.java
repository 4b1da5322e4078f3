package dev.quipu.engine;

import java.lang.reflect.Field;
import org.jspecify.annotations.Nullable;

/*
 * PIT puts the bytecode of its mutant in the place of a class, in every class loader that loads it:
 * also in SimLoader, whose own changes of that class are lost. The simulation can do without them
 * only where there are none.
 */

/** Finds which class PIT has mutated in this process. */
final class SimMutants {
  private static final String MUTANTS =
      "org.pitest.mutationtest.execute.CatchNewClassLoadersTransformer";

  private SimMutants() {}

  /** Returns the name of the class that is mutated; null if none is. */
  static @Nullable String target() {
    try {
      Field field = Class.forName(MUTANTS).getDeclaredField("targetClass");
      field.setAccessible(true);
      String name = (String) field.get(null);
      return name == null ? null : name.replace('/', '.');
    } catch (ReflectiveOperationException e) {
      return null; // it is not PIT that runs this
    }
  }
}
