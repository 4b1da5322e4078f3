package dev.quipu.engine;

import dev.quipu.NotAppliedException;
import dev.quipu.Reason;
import dev.quipu.engine.environment.Disk;
import dev.quipu.engine.environment.DiskFile;
import dev.quipu.engine.environment.HeldLock;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/** The disk of one simulated process, with the faults that this process meets. */
final class SimDisk implements Disk {
  private final SimStorage storage;
  private final SimScheduler scheduler;
  private final SimClock clock;
  private final SplittableRandom random;
  private final SimFaultPlan plan;
  private final SimReport report;
  private int operations;
  private int errors;
  private int full;
  private String atCrash = "";

  /** Kinds of disk operations. */
  enum Kind {
    WRITE,
    SYNC,
    CREATE,
    OPEN,
    READ,
    MAP,
    RENAME,
    MOVE,
    DELETE,
    SYNC_DIRECTORY,
    LIST,
    SIZE,
    MAKE_DIRECTORY,
    ALLOCATE
  }

  SimDisk(
      SimStorage storage,
      SimScheduler scheduler,
      SimClock clock,
      SplittableRandom random,
      SimFaultPlan plan,
      SimReport report) {
    this.storage = storage;
    this.scheduler = scheduler;
    this.clock = clock;
    this.random = random;
    this.plan = plan;
    this.report = report;
  }

  int operations() {
    return operations;
  }

  int errors() {
    return errors;
  }

  int fullRejections() {
    return full;
  }

  /** Returns what the disk was doing when the process was killed; empty if it was not. */
  String atCrash() {
    return atCrash;
  }

  /** Counts an operation, lets others run, and fails if the plan says so. */
  private int begin(Kind kind, Path path) throws IOException {
    int number = ++operations;
    clock.advance(plan.operationNanos);
    scheduler.pause();
    if (number == plan.crashAt && plan.crashMoment == SimFaultPlan.Moment.BEFORE) {
      crash(kind, path);
    }
    if (kind != Kind.WRITE && fails(kind, number)) {
      throw failure(kind, path);
    }
    return number;
  }

  private boolean fails(Kind kind, int number) {
    return number >= plan.errorAt
        && number - plan.errorAt < plan.errorCount
        && plan.errorKinds.contains(kind);
  }

  private IOException failure(Kind kind, Path path) {
    errors++;
    report.fault("io error: " + kind);
    return new IOException("injected: " + kind + " of " + path);
  }

  private void end(Kind kind, Path path, int number) {
    if (number == plan.crashAt) {
      crash(kind, path);
    }
  }

  private void crash(Kind kind, Path path) {
    atCrash = kind + " of " + kindOf(path);
    scheduler.kill();
  }

  /** Returns the kind of file with this name. */
  static String kindOf(Path path) {
    String name = path.getFileName().toString();
    String end = name.endsWith(".tmp") ? " draft" : "";
    if (name.startsWith("counters-")) {
      return "file of counters" + end;
    } else if (name.startsWith("snapshot-")) {
      return "snapshot" + end;
    } else if (name.startsWith("spare-")) {
      return "spare" + end;
    } else if (name.contains(".ids")) {
      return "id file" + end;
    } else if (name.endsWith(".log")) {
      return "segment";
    }
    return name;
  }

  private boolean isFull() {
    boolean isFull = operations >= plan.fullFrom && operations < plan.fullUntil;
    full += isFull ? 1 : 0;
    return isFull;
  }

  private IOException noSpace() {
    report.fault("disk full");
    return new IOException("No space left on device");
  }

  private SimFile existing(Path path) throws IOException {
    SimFile file = storage.names().get(path);
    if (file == null || file == SimStorage.DIRECTORY) {
      throw new NoSuchFileException(path.toString());
    }
    return file;
  }

  private void requireDirectory(Path path) throws IOException {
    if (storage.names().get(path.getParent()) != SimStorage.DIRECTORY) {
      throw new NoSuchFileException(path.toString());
    }
  }

  @Override
  public DiskFile create(Path path) throws IOException {
    int number = begin(Kind.CREATE, path);
    requireDirectory(path);
    if (isFull()) {
      throw noSpace();
    }
    SimFile made = new SimFile();
    storage.change(names -> names.put(path, made));
    end(Kind.CREATE, path, number);
    return new Open(path, made);
  }

  @Override
  public DiskFile open(Path path) throws IOException {
    int number = begin(Kind.OPEN, path);
    SimFile file = existing(path);
    end(Kind.OPEN, path, number);
    return new Open(path, file);
  }

  @Override
  public ByteBuffer read(Path path) throws IOException {
    int number = begin(Kind.READ, path);
    SimFile file = existing(path);
    ByteBuffer all = ByteBuffer.allocate(file.size());
    file.read(0, all);
    end(Kind.READ, path, number);
    return all.flip();
  }

  @Override
  public void read(Path path, long offset, ByteBuffer into) throws IOException {
    int number = begin(Kind.READ, path);
    existing(path).read(offset, into);
    end(Kind.READ, path, number);
  }

  @Override
  public ByteBuffer map(Path path) throws IOException {
    int number = begin(Kind.MAP, path);
    SimFile file = existing(path);
    ByteBuffer all = ByteBuffer.allocate(file.size());
    file.read(0, all);
    end(Kind.MAP, path, number);
    return all.flip().asReadOnlyBuffer();
  }

  @Override
  public long size(Path path) throws IOException {
    int unused = begin(Kind.SIZE, path);
    return existing(path).size();
  }

  @Override
  public boolean exists(Path file) {
    return storage.names().containsKey(file);
  }

  @Override
  public List<Path> list(Path directory) throws IOException {
    int unused = begin(Kind.LIST, directory);
    return storage.list(directory);
  }

  @Override
  public void createDirectories(Path directory) throws IOException {
    int number = begin(Kind.MAKE_DIRECTORY, directory);
    if (!exists(directory)) {
      storage.change(names -> names.put(directory, SimStorage.DIRECTORY));
    }
    end(Kind.MAKE_DIRECTORY, directory, number);
  }

  @Override
  public void rename(Path from, Path to) throws IOException {
    int number = begin(Kind.RENAME, to);
    existing(from);
    storage.change(SimStorage.renaming(from, to));
    end(Kind.RENAME, to, number);
    syncDirectory(java.util.Objects.requireNonNull(to.getParent()));
  }

  @Override
  public void move(Path from, Path to) throws IOException {
    int number = begin(Kind.MOVE, to);
    if (!exists(from)) {
      throw new NoSuchFileException(from.toString());
    }
    storage.change(SimStorage.renaming(from, to));
    end(Kind.MOVE, to, number);
  }

  @Override
  public void delete(Path path) throws IOException {
    int number = begin(Kind.DELETE, path);
    if (exists(path)) {
      storage.change(names -> names.remove(path));
    }
    end(Kind.DELETE, path, number);
  }

  @Override
  public void syncDirectory(Path directory) throws IOException {
    int number = begin(Kind.SYNC_DIRECTORY, directory);
    storage.commit();
    end(Kind.SYNC_DIRECTORY, directory, number);
  }

  @Override
  public long usableBytes(Path directory) {
    return isFull() ? 0 : 1L << 40;
  }

  @Override
  public void allocate(Path path, long size) throws IOException {
    int number = begin(Kind.ALLOCATE, path);
    requireDirectory(path);
    SimFile made = new SimFile();
    storage.change(names -> names.put(path, made));
    if (isFull()) {
      throw noSpace();
    }
    made.allocate((int) size);
    end(Kind.ALLOCATE, path, number);
  }

  @Override
  public HeldLock lock(Path directory) {
    if (storage.isLocked) {
      throw new NotAppliedException(Reason.DENIED, directory + " is locked");
    }
    storage.isLocked = true;
    return new HeldLock() {
      @Override
      public void check() {}

      @Override
      public void close() {
        storage.isLocked = false;
      }
    };
  }

  @Override
  public ByteBuffer buffer(int bytes) {
    return bytes == 1 << 20 ? storage.large() : ByteBuffer.allocate(bytes);
  }

  /** A file that is open for writing. */
  private final class Open implements DiskFile {
    private final Path path;
    private final SimFile file;
    private boolean isClosed;

    Open(Path path, SimFile file) {
      this.path = path;
      this.file = file;
    }

    @Override
    public void write(ByteBuffer bytes, long offset) throws IOException {
      int number = begin(Kind.WRITE, path);
      requireOpen();
      int length = bytes.remaining();
      int at = Math.toIntExact(offset);
      if (offset + length > file.size() && isFull()) {
        file.write(bytes, random.nextInt(length + 1), at);
        throw noSpace();
      }
      boolean fails = fails(Kind.WRITE, number);
      if (fails || (number == plan.crashAt && plan.crashMoment == SimFaultPlan.Moment.AMID)) {
        file.write(bytes, random.nextInt(length + 1), at);
        end(Kind.WRITE, path, number);
        throw failure(Kind.WRITE, path);
      }
      file.write(bytes, length, at);
      end(Kind.WRITE, path, number);
    }

    @Override
    public void sync() throws IOException {
      try {
        int number = begin(Kind.SYNC, path);
        requireOpen();
        file.sync();
        end(Kind.SYNC, path, number);
      } catch (IOException e) {
        file.loseSync(random);
        throw e;
      }
    }

    private void requireOpen() throws IOException {
      if (isClosed) {
        throw new java.nio.channels.ClosedChannelException();
      }
    }

    @Override
    public void close() {
      isClosed = true;
    }
  }

  /** Returns whether a draft of a snapshot, or of a file of ids, is being written. */
  @Nullable String underWay() {
    String found = null;
    for (Path path : storage.names().keySet()) {
      String name = path.getFileName().toString();
      if (name.endsWith(".tmp") && !name.startsWith("spare")) {
        String kind = kindOf(path);
        found = found == null || kind.compareTo(found) < 0 ? kind : found;
      }
    }
    return found;
  }
}
