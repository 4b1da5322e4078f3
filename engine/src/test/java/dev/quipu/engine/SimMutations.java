package dev.quipu.engine;

import java.util.LinkedHashMap;
import java.util.Map;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/**
 * Bugs planted in bytecode, to show that the simulation finds them: bugs that the engine once had,
 * and some that it might have.
 */
final class SimMutations {
  private static final String ENGINE = "dev/quipu/engine/";

  private SimMutations() {}

  /** Replaces one call. */
  private interface Call {
    void instead(MethodVisitor out, int opcode, String owner, String name, String descriptor);
  }

  /** Replaces the calls of one method within another one. */
  private static SimLoader.SimMutation call(
      String inClass, String inMethod, String owner, String name, Call call) {
    return (visitedClass, visitedMethod, next) ->
        !visitedClass.equals(inClass) || !visitedMethod.equals(inMethod)
            ? next
            : new MethodVisitor(Opcodes.ASM9, next) {
              @Override
              public void visitMethodInsn(
                  int opcode,
                  String target,
                  String called,
                  String descriptor,
                  boolean isInterface) {
                if (called.equals(name) && target.endsWith(owner)) {
                  call.instead(mv, opcode, target, called, descriptor);
                } else {
                  super.visitMethodInsn(opcode, target, called, descriptor, isInterface);
                }
              }
            };
  }

  private static Call pop(int slots, int... then) {
    return (out, opcode, owner, name, descriptor) -> {
      for (int i = 0; i < slots; i++) {
        out.visitInsn(Opcodes.POP);
      }
      for (int each : then) {
        out.visitInsn(each);
      }
    };
  }

  private static Call hook(String name, String descriptor) {
    return (out, opcode, owner, called, ignored) ->
        out.visitMethodInsn(Opcodes.INVOKESTATIC, ENGINE + "SimHooks", name, descriptor, false);
  }

  private static SimLoader.SimMutation both(
      SimLoader.SimMutation first, SimLoader.SimMutation second) {
    return (owner, method, next) -> first.on(owner, method, second.on(owner, method, next));
  }

  /** Returns all bugs by description. */
  static Map<String, SimLoader.SimMutation> all() {
    Map<String, SimLoader.SimMutation> all = new LinkedHashMap<>();
    all.put(
        "an Error in the commit leader is ignored",
        call(
            "Committer",
            "lead",
            "Failure",
            "stop",
            hook(
                "stopUnlessError", "(L" + ENGINE + "environment/Failure;Ljava/lang/Throwable;)V")));
    all.put(
        "an expired counter is removed in memory and not in the log",
        call("CounterAccess", "writable", "Group", "gone", pop(2)));
    all.put(
        "canceling a request resurrects an expired counter",
        call(
            "CounterAccess",
            "writable",
            "State",
            "removeCounter",
            hook("unexpire", "(L" + ENGINE + "state/State;I)V")));
    all.put(
        "a start with a wrong clock advances the age of request ids without limit",
        call(
            "EngineClock",
            "<init>",
            "java/lang/Math",
            "clamp",
            (out, opcode, owner, name, descriptor) -> {
              out.visitInsn(Opcodes.POP2);
              out.visitInsn(Opcodes.POP2);
            }));
    all.put("the log is not synced", call("Log", "sync", "DiskFile", "sync", pop(1)));
    all.put(
        "a group is answered before its frame is synced",
        call(
            "Committer",
            "flush",
            "Log",
            "append",
            (out, opcode, owner, name, descriptor) -> {
              out.visitInsn(Opcodes.POP);
              out.visitInsn(Opcodes.ICONST_0);
              out.visitMethodInsn(opcode, owner, name, descriptor, false);
            }));
    all.put(
        "a snapshot gets its name before it is synced",
        call("Snapshot", "end", "DiskFile", "sync", pop(1)));
    all.put(
        "segments are recycled before the snapshot exists",
        call(
            "Checkpointer",
            "checkpoint",
            "Snapshot",
            "end",
            (out, opcode, owner, name, descriptor) -> {
              out.visitVarInsn(Opcodes.ALOAD, 0);
              out.visitFieldInsn(
                  Opcodes.GETFIELD,
                  ENGINE + "commit/Checkpointer",
                  "log",
                  "L" + ENGINE + "log/Log;");
              out.visitLdcInsn(Long.MAX_VALUE);
              out.visitMethodInsn(
                  Opcodes.INVOKEVIRTUAL, ENGINE + "log/Log", "recycle", "(J)V", false);
              out.visitMethodInsn(opcode, owner, name, descriptor, false);
            }));
    all.put(
        "a snapshot lists a file of ids that is then deleted",
        call(
            "Checkpointer$IdFilesTask",
            "run",
            "java/util/List",
            "removeAll",
            pop(2, Opcodes.ICONST_0)));
    all.put(
        "a snapshot lists files of ids that are deleted because they were merged",
        call(
            "Checkpointer$IdFilesTask",
            "run",
            "RequestIds",
            "files",
            hook("filesAndReplaced", "(L" + ENGINE + "ids/RequestIds;)Ljava/util/List;")));
    all.put(
        "a merged file has no ids",
        call(
            "IdMerge",
            "write",
            "IdCursor",
            "addTo",
            (out, opcode, owner, name, descriptor) -> out.visitInsn(Opcodes.POP2)));
    all.put(
        "an id in a file is not in the index",
        call("IdTable", "addTo", "IdIndex", "add", pop(0, Opcodes.POP2, Opcodes.POP)));
    all.put(
        "ids of files that were found at the start are not in their index",
        call("IdIndex", "of", "IdIndex", "add", pop(0, Opcodes.POP2, Opcodes.POP)));
    all.put(
        "ids are looked up in an index that was dropped",
        call("RequestIds", "find", "IdIndexes", "cover", pop(2, Opcodes.ICONST_1)));
    all.put(
        "an ordinal is used again while request ids refer to it",
        both(
            call("Tombstones", "take", "RequestIds", "isLive", pop(2, Opcodes.ICONST_0)),
            both(
                call("Tombstones", "mayFree", "RequestIds", "isLive", pop(2, Opcodes.ICONST_0)),
                call(
                    "ExpirySweeper$SweepTask",
                    "run",
                    "RequestIds",
                    "isLive",
                    pop(2, Opcodes.ICONST_0)))));
    all.put(
        "a counter that was written again and expired is freed twice",
        call(
            "ExpirySweeper$SweepTask",
            "run",
            "CounterTable",
            "isTombstone",
            pop(2, Opcodes.ICONST_0)));
    all.put(
        "data that was read at a start is not synced before more is appended",
        both(
            call("Log", "open", "Log", "writeAgain", pop(4)),
            call("Recovery", "sealWaiting", "Log", "writeAgain", pop(4))));
    all.put(
        "the end of a closed log is still marked when the log continues",
        call("HighWater", "open", "HighWater", "eraseEnd", pop(2)));
    all.put(
        "a removal is not in the log", call("CounterAccess", "remove", "Group", "gone", pop(2)));
    all.put(
        "an expiry is not in the log",
        call(
            "CounterAccess",
            "expire",
            "Group",
            "expires",
            (out, opcode, owner, name, descriptor) -> {
              out.visitInsn(Opcodes.POP2);
              out.visitInsn(Opcodes.POP2);
            }));
    addFilesOfCounters(all);
    addTransactions(all);
    return all;
  }

  private static void addFilesOfCounters(Map<String, SimLoader.SimMutation> all) {
    all.put(
        "a value since a file of counters is not in the snapshot",
        call(
            "Snapshot",
            "change",
            "Records",
            "value",
            pop(0, Opcodes.POP2, Opcodes.POP, Opcodes.POP)));
    all.put(
        "a removal since a file of counters is not in the snapshot",
        call("Snapshot", "change", "Records", "gone", pop(2)));
    all.put(
        "an ordinal that is free since a file of counters is not in the snapshot",
        call("Snapshot", "change", "Records", "free", pop(2)));
    all.put(
        "a counter that is written is not marked as changed since the file of counters",
        call("CounterTable", "wrote", "CounterTablePage", "change", pop(2)));
    all.put(
        "a file of counters is deleted while the snapshot refers to it",
        call(
            "Checkpointer", "removeOlder", "java/lang/String", "equals", pop(2, Opcodes.ICONST_0)));
  }

  private static void addTransactions(Map<String, SimLoader.SimMutation> all) {
    all.put(
        "a hold that was settled or released expires as well",
        call(
            "State",
            "addTransaction",
            "HoldTable",
            "remove",
            (out, opcode, owner, name, descriptor) -> {
              out.visitInsn(Opcodes.POP2);
              out.visitInsn(Opcodes.POP2);
              out.visitInsn(Opcodes.POP);
            }));
    all.put(
        "the end of a hold is not in the log",
        call("TransactionAccess", "remember", "Group", "transaction", pop(2)));
    all.put("an open hold is not in the log", call("HoldAccess", "store", "Group", "hold", pop(2)));
    all.put(
        "open holds are not in snapshots, so they never expire",
        call("Checkpointer", "writeHolds", "Snapshot", "hold", pop(2)));
    all.put(
        "a hold returns to a counter that was removed and created again",
        call("State", "removeCounter", "State", "endHolds", pop(2)));
  }
}
