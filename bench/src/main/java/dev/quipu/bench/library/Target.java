package dev.quipu.bench.library;

import dev.quipu.Add;
import java.util.List;

/** A library that adds durably: when the call returns, the whole group is on disk. */
public interface Target extends AutoCloseable {
  /** Adds a group; returns the number of applied adds. */
  int addAll(List<Add> adds) throws Exception;

  @Override
  default void close() {}
}
