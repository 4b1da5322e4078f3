package dev.quipu.testkit.scenario;

import java.io.IOException;
import java.io.InputStream;
import java.util.List;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;

/**
 * A fault that is planted in the code, to show that a scenario finds it: a method only returns a
 * constant or its argument.
 *
 * @param name description of the fault
 * @param scenario the scenario that finds it
 * @param owner the class, without {@code dev.quipu.}
 * @param method the methods, all of that name
 * @param returns what they return instead
 */
record Planted(String name, String scenario, String owner, String method, Returns returns) {
  private static final String PACKAGE = "dev.quipu.";

  /** The result of a method whose body is removed. */
  enum Returns {
    /** False, 0 or nothing. */
    NONE,
    /** True, or 1. */
    TRUE,
    /** Its first argument, or, if it has none and is not static, {@code this}. */
    GIVEN,
    /** {@code Optional.empty()}. */
    EMPTY,
    /** {@code Condition.always()}. */
    ALWAYS
  }

  /** Returns the first seed that finds the fault, with the violation; empty if none does. */
  String find(long first, long count) throws ReflectiveOperationException {
    ClassLoader loader = new Loader();
    loader.loadClass(PACKAGE + owner); // otherwise it would be planted nowhere
    Class<?> seeds = loader.loadClass(PACKAGE + "testkit.scenario.Planted$Seeds");
    Object found =
        seeds
            .getDeclaredMethod("run", String.class, long.class, long.class)
            .invoke(null, scenario, first, count);
    return (String) found;
  }

  /** Runs seeds; loaded together with the fault. */
  public static final class Seeds {
    private Seeds() {}

    /** Returns the first seed with a violation, and the violation; or nothing. */
    public static String run(String scenario, long first, long count) {
      Scenarios.Scenario chosen = Scenarios.all().get(scenario);
      if (chosen == null) {
        throw new IllegalArgumentException("no scenario " + scenario);
      }
      for (long seed = first; seed < first + count; seed++) {
        List<String> violations = chosen.run(seed);
        if (!violations.isEmpty()) {
          return "seed " + seed + ": " + violations.getFirst();
        }
      }
      return "";
    }
  }

  /** Loads all Quipu classes again, with the fault. */
  private final class Loader extends ClassLoader {
    private boolean isPlanted;

    Loader() {
      super(Planted.class.getClassLoader());
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
      if (!name.startsWith(PACKAGE)) {
        return super.loadClass(name, resolve);
      }
      synchronized (getClassLoadingLock(name)) {
        Class<?> loaded = findLoadedClass(name);
        return loaded == null ? define(name) : loaded;
      }
    }

    private Class<?> define(String name) throws ClassNotFoundException {
      try (InputStream in = getParent().getResourceAsStream(name.replace('.', '/') + ".class")) {
        if (in == null) {
          throw new ClassNotFoundException(name);
        }
        byte[] bytes = in.readAllBytes();
        if (name.equals(PACKAGE + owner)) {
          bytes = planted(bytes);
        }
        return defineClass(name, bytes, 0, bytes.length);
      } catch (IOException e) {
        throw new ClassNotFoundException(name, e);
      }
    }

    private byte[] planted(byte[] bytes) {
      ClassReader reader = new ClassReader(bytes);
      ClassWriter writer = new ClassWriter(ClassWriter.COMPUTE_MAXS);
      reader.accept(
          new ClassVisitor(Opcodes.ASM9, writer) {
            @Override
            public MethodVisitor visitMethod(
                int access, String of, String descriptor, String signature, String[] exceptions) {
              MethodVisitor next = super.visitMethod(access, of, descriptor, signature, exceptions);
              if (!of.equals(method)) {
                return next;
              }
              isPlanted = true;
              replace(next, descriptor, (access & Opcodes.ACC_STATIC) != 0);
              return new MethodVisitor(Opcodes.ASM9) {}; // the body is discarded
            }
          },
          0);
      if (!isPlanted) {
        throw new IllegalStateException(owner + " has no method " + method);
      }
      return writer.toByteArray();
    }

    private void replace(MethodVisitor body, String descriptor, boolean isStatic) {
      Type result = Type.getReturnType(descriptor);
      body.visitCode();
      switch (returns) {
        case NONE -> {
          switch (result.getSort()) {
            case Type.VOID -> {}
            case Type.LONG -> body.visitInsn(Opcodes.LCONST_0);
            case Type.OBJECT, Type.ARRAY -> body.visitInsn(Opcodes.ACONST_NULL);
            default -> body.visitInsn(Opcodes.ICONST_0);
          }
        }
        case TRUE ->
            body.visitInsn(result.getSort() == Type.LONG ? Opcodes.LCONST_1 : Opcodes.ICONST_1);
        case GIVEN -> {
          Type[] given = Type.getArgumentTypes(descriptor);
          Type loaded = given.length == 0 ? result : given[0];
          body.visitVarInsn(loaded.getOpcode(Opcodes.ILOAD), isStatic || given.length == 0 ? 0 : 1);
        }
        case EMPTY ->
            body.visitMethodInsn(
                Opcodes.INVOKESTATIC,
                "java/util/Optional",
                "empty",
                "()Ljava/util/Optional;",
                false);
        case ALWAYS ->
            body.visitMethodInsn(
                Opcodes.INVOKESTATIC,
                "dev/quipu/store/Condition",
                "always",
                "()Ldev/quipu/store/Condition;",
                true);
      }
      body.visitInsn(result.getOpcode(Opcodes.IRETURN));
      body.visitMaxs(0, 0);
      body.visitEnd();
    }
  }
}
