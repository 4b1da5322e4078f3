package dev.quipu.server.cli.access;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.quipu.layer.ForwardingDriver;
import dev.quipu.store.StoreDriver;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** A forwarding driver forwards every call: a default would hide capabilities of the store. */
final class WrappedDriversTest {
  /** The default methods that a class does not override. */
  private static List<String> missing(Class<?> wrapper) throws NoSuchMethodException {
    List<String> missing = new ArrayList<>();
    for (Method method : StoreDriver.class.getMethods()) {
      Method own = wrapper.getMethod(method.getName(), method.getParameterTypes());
      if (own.getDeclaringClass().equals(StoreDriver.class)) {
        missing.add(method.getName());
      }
    }
    return missing;
  }

  @Test
  void everyCallIsForwarded() throws Exception {
    assertEquals(List.of(), missing(ForwardingDriver.class));
    assertEquals(List.of(), missing(Class.forName("dev.quipu.record.GuardedDriver")));
    assertEquals(List.of(), missing(LaterDriver.class));
    // A store that is opened later has batches, and no native operations.
    LaterDriver later = new LaterDriver("redis://127.0.0.1:1");
    assertEquals(Optional.empty(), later.operations());
  }
}
