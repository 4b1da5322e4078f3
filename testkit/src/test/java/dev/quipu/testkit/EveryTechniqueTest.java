package dev.quipu.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.quipu.SetResult;
import dev.quipu.backend.Backends;
import dev.quipu.layer.Store;
import dev.quipu.memory.MemoryDriver;
import dev.quipu.technique.Technique;
import dev.quipu.technique.TechniqueSpec;
import dev.quipu.technique.Techniques;
import dev.quipu.testkit.technique.TechniquesContract;
import dev.quipu.time.Clock;
import dev.quipu.time.Randomness;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A technique in {@link Techniques#ALL} is also where else techniques are listed by hand. */
final class EveryTechniqueTest {
  static List<TechniqueSpec> all() {
    return Techniques.ALL;
  }

  private static SetResult set(TechniqueSpec spec) {
    return open(spec).set("seats", 7, OptionalLong.empty());
  }

  private static Technique open(TechniqueSpec spec) {
    return Backends.technique(
        spec, new Store(new MemoryDriver(), Clock.system()), Randomness.secure(), Optional.empty());
  }

  @ParameterizedTest
  @MethodSource("all")
  void canBeOpened(TechniqueSpec spec) {
    assertEquals(spec.name(), open(spec).spec().name());
  }

  @ParameterizedTest
  @MethodSource("all")
  void hasContractTests(TechniqueSpec spec) throws ReflectiveOperationException {
    List<String> tested = new ArrayList<>();
    for (Class<?> nested : TechniquesContract.class.getDeclaredClasses()) {
      if (nested.isAnnotationPresent(Nested.class)) {
        var constructor = nested.getDeclaredConstructor(TechniquesContract.class);
        constructor.setAccessible(true);
        if (constructor.newInstance(new MemoryTechniquesTest())
            instanceof TechniquesContract.OnStore onStore) {
          tested.add(onStore.spec().name());
        }
      }
    }
    assertEquals(
        List.of(spec.name()), tested.stream().filter(spec.name()::equals).distinct().toList());
  }

  @ParameterizedTest
  @MethodSource("all")
  void canBeSetIfTheMessageSaysSo(TechniqueSpec spec) {
    String message = String.valueOf(Techniques.cannotSet("x").getMessage());
    List<String> settable = List.of(message.replaceFirst(".*: ", "").split(", ", -1));
    if (settable.contains(spec.name())) {
      assertEquals(7, assertInstanceOf(SetResult.Done.class, set(spec)).value());
    } else {
      assertThrows(UnsupportedOperationException.class, () -> set(spec));
    }
  }
}
