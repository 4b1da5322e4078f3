package dev.quipu.engine;

import java.util.EnumSet;
import java.util.Set;

/** The faults that one simulated process meets, by the number of the disk operation. */
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

  /** How many sites are passed before an Error is thrown; 0 for none. */
  int throwAt;

  /** The site where it is thrown at its first passage; -1 for any. */
  int throwSite = -1;

  int throwTimes = 1;

  /** Which Error is thrown. */
  int throwKind;

  boolean stopsOnError;
}
