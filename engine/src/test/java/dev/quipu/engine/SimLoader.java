package dev.quipu.engine;

import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.Label;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;

/*
 * Loads the engine and the simulation in a new class loader. On the way the engine's bytecode gets:
 *
 *   - a call of SimHooks.at before each allocation, and before and after each call into the JDK: a
 *     place where an Error can be thrown. Not in static initializers, for a class that could not be
 *     initialized would be lost to all later runs; not before the constructor of a superclass,
 *     where nothing has begun; and not around ReentrantLock.lock and unlock, Condition.signalAll,
 *     LockSupport.unpark and the atomic numbers, which allocate nothing, or do without (see
 *     AbstractQueuedSynchronizer), and which need next to no stack.
 *   - simulated time and random numbers where the engine has those of the machine.
 *   - locks instead of monitors: the virtual machine hands a monitor over by a thread of its own.
 *   - a call that reports when the leader has run a task: so the model knows the order.
 *
 * A mutation changes one method more: see SimMutations.
 */

/** A class loader that instruments the engine for simulation. */
public final class SimLoader extends ClassLoader {
  private static final String PACKAGE = "dev.quipu.engine.";
  private static final String HOOKS = "dev/quipu/engine/SimHooks";
  private static final String TASK = "dev/quipu/engine/commit/Task";

  private final boolean hasSites;
  private final @Nullable SimMutation mutation;
  private final List<String> sites = new ArrayList<>();

  /** Changes the bytecode of one method to plant a bug. */
  interface SimMutation {
    /** Returns the visitor of a method. */
    MethodVisitor on(String owner, String method, MethodVisitor next);
  }

  SimLoader(boolean hasSites, @Nullable SimMutation mutation) {
    super(SimLoader.class.getClassLoader());
    this.hasSites = hasSites;
    this.mutation = mutation;
  }

  /** Returns the description of each site. */
  List<String> sites() {
    return sites;
  }

  /** Loads all classes of the engine, so that their sites are always numbered in the same order. */
  void loadAll() throws ReflectiveOperationException {
    try {
      loadAll(
          java.nio.file.Path.of(
              Engine.class.getProtectionDomain().getCodeSource().getLocation().toURI()));
    } catch (IOException | java.net.URISyntaxException e) {
      throw new ReflectiveOperationException(e);
    }
  }

  private void loadAll(java.nio.file.Path classes)
      throws IOException, ReflectiveOperationException {
    try (var files = java.nio.file.Files.walk(classes.resolve(PACKAGE.replace('.', '/')))) {
      for (var file : files.sorted().toList()) {
        String name = classes.relativize(file).toString().replace(java.io.File.separatorChar, '.');
        if (name.endsWith(".class") && !name.endsWith("package-info.class")) {
          var unused = loadClass(name.substring(0, name.length() - 6), false);
        }
      }
    }
  }

  @Override
  protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
    if (!name.startsWith(PACKAGE) || name.startsWith(PACKAGE + "SimLoader")) {
      return super.loadClass(name, resolve);
    }
    synchronized (getClassLoadingLock(name)) {
      Class<?> loaded = findLoadedClass(name);
      return loaded == null ? define(name) : loaded;
    }
  }

  private Class<?> define(String name) throws ClassNotFoundException {
    String file = name.replace('.', '/') + ".class";
    try (InputStream in = getParent().getResourceAsStream(file)) {
      if (in == null) {
        throw new ClassNotFoundException(name);
      }
      byte[] bytes = in.readAllBytes();
      boolean isOfTests =
          java.util.Objects.requireNonNull(getParent().getResource(file))
              .getPath()
              .contains("test-classes");
      return isOfTests
          ? defineClass(name, bytes, 0, bytes.length)
          : SimMutants.define(name, bytes, this::defineChanged);
    } catch (IOException e) {
      throw new ClassNotFoundException(name, e);
    }
  }

  private Class<?> defineChanged(byte[] bytes) {
    ClassReader reader = new ClassReader(bytes);
    ClassWriter writer = new ClassWriter(reader, ClassWriter.COMPUTE_MAXS);
    reader.accept(new Classes(writer), 0);
    byte[] changed = writer.toByteArray();
    return defineClass(null, changed, 0, changed.length);
  }

  private final class Classes extends ClassVisitor {
    private String type = "";
    private String owner = "";

    Classes(ClassVisitor next) {
      super(Opcodes.ASM9, next);
    }

    @Override
    public void visit(
        int version,
        int access,
        String name,
        @Nullable String signature,
        @Nullable String superName,
        String @Nullable [] interfaces) {
      type = name;
      owner = name.substring(name.lastIndexOf('/') + 1);
      super.visit(version, access, name, signature, superName, interfaces);
    }

    @Override
    public MethodVisitor visitMethod(
        int access,
        String name,
        String descriptor,
        @Nullable String signature,
        String @Nullable [] exceptions) {
      int others = access & ~Opcodes.ACC_SYNCHRONIZED;
      MethodVisitor next = super.visitMethod(others, name, descriptor, signature, exceptions);
      MethodVisitor whole = others == access ? next : new LockedMethod(type, next);
      MethodVisitor replaced = new Replacements(owner, name, whole);
      MethodVisitor mutated = mutation == null ? replaced : mutation.on(owner, name, replaced);
      return !hasSites || name.equals("<clinit>")
          ? mutated
          : new Sites(owner + "." + name, mutated);
    }
  }

  /** Simulated time, random numbers and task order. */
  private static final class Replacements extends MethodVisitor {
    private final String owner;
    private final String method;

    Replacements(String owner, String method, MethodVisitor next) {
      super(Opcodes.ASM9, next);
      this.owner = owner;
      this.method = method;
    }

    @Override
    public void visitCode() {
      super.visitCode();
      if (owner.equals("Committer") && method.equals("run")) {
        super.visitVarInsn(Opcodes.ALOAD, 1);
        hook("submitted", "(L" + TASK + ";)V");
      }
    }

    @Override
    public void visitMethodInsn(
        int opcode, String target, String name, String descriptor, boolean isInterface) {
      if (target.equals(TASK) && name.equals("run")) {
        hook("run", descriptor.replace("(", "(L" + TASK + ";"));
      } else if (target.equals("dev/quipu/time/Randomness") && name.equals("secure")) {
        hook(name, descriptor);
      } else if (target.equals("dev/quipu/time/Clock") && name.equals("system")) {
        hook("systemClock", descriptor);
      } else if (target.endsWith("/LockSupport") && name.equals("parkNanos")) {
        hook(name, descriptor);
      } else if (name.equals("allocateDirect")) { // waits for a real thread, the cleaner's
        super.visitMethodInsn(opcode, target, "allocate", descriptor, isInterface);
      } else {
        super.visitMethodInsn(opcode, target, name, descriptor, isInterface);
      }
    }

    @Override
    public void visitInsn(int opcode) {
      switch (opcode) {
        case Opcodes.MONITORENTER -> hook("enter", "(Ljava/lang/Object;)V");
        case Opcodes.MONITOREXIT -> hook("exit", "(Ljava/lang/Object;)V");
        default -> super.visitInsn(opcode);
      }
    }

    private void hook(String name, String descriptor) {
      super.visitMethodInsn(Opcodes.INVOKESTATIC, HOOKS, name, descriptor, false);
    }
  }

  /** A synchronized instance method, with a lock instead of the monitor. */
  private static final class LockedMethod extends MethodVisitor {
    private final String type;
    private final Label start = new Label();

    LockedMethod(String type, MethodVisitor next) {
      super(Opcodes.ASM9, next);
      this.type = type;
    }

    @Override
    public void visitCode() {
      super.visitCode();
      onThis("enter");
      super.visitLabel(start);
    }

    @Override
    public void visitInsn(int opcode) {
      if (opcode >= Opcodes.IRETURN && opcode <= Opcodes.RETURN) {
        onThis("exit");
      }
      super.visitInsn(opcode);
    }

    @Override
    public void visitMaxs(int maxStack, int maxLocals) {
      Label end = new Label();
      super.visitLabel(end); // also where the handler begins
      super.visitTryCatchBlock(start, end, end, null);
      super.visitFrame(
          Opcodes.F_FULL, 1, new Object[] {type}, 1, new Object[] {"java/lang/Throwable"});
      onThis("exit");
      super.visitInsn(Opcodes.ATHROW);
      super.visitMaxs(maxStack, maxLocals);
    }

    private void onThis(String hook) {
      super.visitVarInsn(Opcodes.ALOAD, 0);
      super.visitMethodInsn(Opcodes.INVOKESTATIC, HOOKS, hook, "(Ljava/lang/Object;)V", false);
    }
  }

  /** Points where an Error can be thrown. */
  private final class Sites extends MethodVisitor {
    private final String method;

    Sites(String method, MethodVisitor next) {
      super(Opcodes.ASM9, next);
      this.method = method;
    }

    private void site(String what) {
      super.visitLdcInsn(sites.size());
      super.visitMethodInsn(Opcodes.INVOKESTATIC, HOOKS, "at", "(I)V", false);
      sites.add(method + ": " + what);
    }

    /** Returns whether a call cannot fail for lack of memory. */
    private static boolean isSure(String target, String name) {
      return target.startsWith("java/util/concurrent/atomic/Atomic")
          || name.equals("signalAll")
          || name.equals("unpark")
          || (target.equals("java/util/concurrent/locks/ReentrantLock")
              && (name.equals("lock") || name.equals("unlock")));
    }

    @Override
    public void visitTypeInsn(int opcode, String type) {
      if (opcode == Opcodes.ANEWARRAY) {
        site("new " + type + "[]");
      }
      super.visitTypeInsn(opcode, type);
      if (opcode
          == Opcodes.NEW) { // not before, for stack maps refer to the place of this instruction
        site("new " + type);
      }
    }

    @Override
    public void visitIntInsn(int opcode, int operand) {
      if (opcode == Opcodes.NEWARRAY) {
        site("new array");
      }
      super.visitIntInsn(opcode, operand);
    }

    @Override
    public void visitMultiANewArrayInsn(String descriptor, int dimensions) {
      site("new " + descriptor);
      super.visitMultiANewArrayInsn(descriptor, dimensions);
    }

    @Override
    public void visitInvokeDynamicInsn(
        String name, String descriptor, org.objectweb.asm.Handle bootstrap, Object... arguments) {
      site("dynamic " + name + " " + Type.getReturnType(descriptor).getClassName());
      super.visitInvokeDynamicInsn(name, descriptor, bootstrap, arguments);
    }

    @Override
    public void visitMethodInsn(
        int opcode, String target, String name, String descriptor, boolean isInterface) {
      boolean isJdk = target.startsWith("java/") && !name.equals("<init>") && !isSure(target, name);
      if (isJdk) {
        site("before " + target + "." + name);
      }
      super.visitMethodInsn(opcode, target, name, descriptor, isInterface);
      if (isJdk) {
        site("after " + target + "." + name);
      }
    }
  }
}
