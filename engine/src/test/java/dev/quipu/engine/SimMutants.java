package dev.quipu.engine;

import java.lang.reflect.Field;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/*
 * PIT replaces the bytecode of a class with its mutant in every class loader that loads it: also in
 * SimLoader, whose own changes of that class would be lost. So SimLoader takes the mutant from PIT,
 * and PIT is kept from replacing the result of SimLoader.
 */

/** The classes that PIT has mutated in this process. */
final class SimMutants {
  private static final String MUTANTS =
      "org.pitest.mutationtest.execute.CatchNewClassLoadersTransformer";

  private SimMutants() {}

  /**
   * Defines a class from its bytecode, or from its mutant if PIT has one.
   *
   * @param name with dots
   */
  static Class<?> define(String name, byte[] original, Function<byte[], Class<?>> definer) {
    try {
      Class<?> mutants = Class.forName(MUTANTS);
      Field target = open(mutants, "targetClass");
      String mutated = (String) target.get(null);
      if (mutated == null || !mutated.replace('/', '.').equals(name)) {
        return definer.apply(original);
      }
      byte @Nullable [] mutant = (byte[]) open(mutants, "currentMutant").get(null);
      target.set(null, "");
      try {
        return definer.apply(mutant == null ? original : mutant);
      } finally {
        target.set(null, mutated);
      }
    } catch (ReflectiveOperationException e) { // not run by PIT
      return definer.apply(original);
    }
  }

  private static Field open(Class<?> owner, String name) throws ReflectiveOperationException {
    Field field = owner.getDeclaredField(name);
    field.setAccessible(true);
    return field;
  }
}
