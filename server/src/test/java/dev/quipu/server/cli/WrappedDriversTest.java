package dev.quipu.server.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.quipu.store.StoreDriver;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A driver around another passes on every call: a default would answer for a store it is not. */
final class WrappedDriversTest {
  private static List<String> missing(Class<?> wrapper) {
    List<String> missing = new ArrayList<>();
    for (Method method : StoreDriver.class.getMethods()) {
      boolean isPassedOn =
          Arrays.stream(wrapper.getDeclaredMethods())
              .filter(own -> own.getName().equals(method.getName()))
              .anyMatch(own -> Arrays.equals(own.getParameterTypes(), method.getParameterTypes()));
      if (!isPassedOn) {
        missing.add(method.getName());
      }
    }
    return missing;
  }

  @Test
  void eachCallIsPassedOn() throws Exception {
    assertEquals(List.of(), missing(Class.forName("dev.quipu.technique.GuardedDriver")));
    // A store that is opened later has batches, and no operations of its own.
    assertEquals(List.of("operations"), missing(LaterDriver.class));
  }
}
