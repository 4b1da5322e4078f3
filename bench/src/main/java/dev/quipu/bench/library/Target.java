package dev.quipu.bench.library;

import dev.quipu.Add;
import java.util.List;

/** Something that adds durably: all of a group have reached the disk when the call returns. */
public interface Target extends AutoCloseable {
  /** Adds all; returns how many were applied. */
  int addAll(List<Add> adds) throws Exception;

  @Override
  void close();
}
