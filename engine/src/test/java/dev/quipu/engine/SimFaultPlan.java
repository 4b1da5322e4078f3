package dev.quipu.engine;

import java.util.EnumSet;
import java.util.Set;

/** Which faults one simulated process meets, counted in operations of its disk. */
final class SimFaultPlan {
  /** When within an operation the process is killed. */
  enum Moment {
    BEFORE,
    AMID,
    AFTER
  }

  int crashAt = Integer.MAX_VALUE;
  Moment crashMoment = Moment.BEFORE;
  int errorAt = Integer.MAX_VALUE;
  int errorCount;
  Set<SimDisk.Kind> errorKinds = EnumSet.allOf(SimDisk.Kind.class);
  int fullFrom = Integer.MAX_VALUE;
  int fullUntil = Integer.MAX_VALUE;
  long operationNanos = 50_000;

  /** How many sites are passed until an Error is thrown; 0 for none. */
  int throwAt;

  /** The one site where it is thrown, the first time; -1 for any. */
  int throwSite = -1;

  int throwTimes = 1;

  /** Which Error it is. */
  int throwKind;

  boolean stopsOnError;
}
