package dev.quipu.engine.recovery;

import dev.quipu.engine.damage.Damage;
import dev.quipu.engine.damage.DamageException;
import dev.quipu.engine.environment.Disk;
import dev.quipu.engine.log.Frame;
import dev.quipu.engine.log.HoldRecord;
import dev.quipu.engine.log.Records;
import dev.quipu.engine.log.TransactionRecord;
import dev.quipu.engine.recovery.Snapshot.Contents;
import dev.quipu.engine.recovery.Snapshot.IdFileName;
import dev.quipu.engine.recovery.Snapshot.Start;
import dev.quipu.engine.state.CounterLoader;
import dev.quipu.engine.state.State;
import dev.quipu.store.Item;
import dev.quipu.store.Key;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.IntBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Reads a {@link Snapshot}. */
public final class SnapshotReader {
  private SnapshotReader() {}

  /**
   * What was read.
   *
   * @param contents empty if any of it is damaged
   * @param idFiles also of a damaged one, as far as they are known
   * @param damages the first of which says why it is not complete; empty if it is
   */
  public record Attempt(
      Optional<Contents> contents, List<IdFileName> idFiles, List<DamageException> damages) {}

  /** Reads what can be read of a snapshot into {@code state}. */
  public static Attempt attempt(Disk disk, Path path, long identity, State state)
      throws IOException {
    return attempt(disk, path, identity, new Reading(state));
  }

  /**
   * Reads a snapshot into {@code state}.
   *
   * @throws DamageException if any of it is damaged
   */
  public static Contents read(Disk disk, Path path, long identity, State state) throws IOException {
    return whole(attempt(disk, path, identity, state));
  }

  /**
   * Verifies a snapshot and returns its content besides the state.
   *
   * @throws DamageException if any of it is damaged
   */
  public static Contents outline(Disk disk, Path path, long identity) throws IOException {
    return whole(attempt(disk, path, identity, new Outline()));
  }

  private static Contents whole(Attempt attempt) {
    if (attempt.contents.isEmpty()) {
      throw attempt.damages.getFirst();
    }
    return attempt.contents.get();
  }

  private static Attempt attempt(Disk disk, Path path, long identity, Outline reading)
      throws IOException {
    try {
      readFile(disk, path, identity, reading);
    } catch (DamageException e) {
      reading.damages.add(e);
    }
    Start start = reading.start;
    List<IdFileName> idFiles = List.copyOf(reading.idFiles);
    if (start == null && reading.damages.isEmpty()) {
      reading.damages.add(missingEnd(path, 0));
    }
    if (start == null || !reading.damages.isEmpty()) {
      reading.finish(); // a salvage keeps what was read
      return new Attempt(Optional.empty(), idFiles, reading.damages);
    }
    reading.end();
    Contents contents = new Contents(start, idFiles, reading.counters, reading.end);
    return new Attempt(Optional.of(contents), idFiles, reading.damages);
  }

  private static void readFile(Disk disk, Path path, long identity, Outline reading)
      throws IOException {
    Frame frame = new Frame(identity);
    long offset = 0;
    long number = 0;
    boolean isSkipped = false;
    long size = disk.size(path);
    while (offset < size && reading.end < 0) {
      ByteBuffer in = frameAt(disk, path, offset, size);
      Frame.Head head = frame.read(in, 0);
      number++;
      if (head == null || head.number() != number) {
        DamageException damage =
            new DamageException(Damage.SNAPSHOT, path, offset, "frame " + number + " is damaged");
        if (head != null || isSkipped) {
          throw damage; // where the next one begins is not known
        }
        reading.damages.add(damage); // a salvage keeps the others
        isSkipped = true;
        offset += (in.limit() + Frame.ALIGNMENT - 1) & -Frame.ALIGNMENT;
        continue;
      }
      isSkipped = false;
      try {
        Records.read(in.slice(Frame.HEAD_BYTES, head.payloadBytes()), reading);
      } catch (RuntimeException e) {
        throw new DamageException(
            Damage.SNAPSHOT, path, offset, "frame %d cannot be applied: %s".formatted(number, e));
      }
      offset += head.frameBytes();
      String counters = reading.takeCounters();
      if (!counters.isEmpty()) {
        readCounters(disk, path.resolveSibling(counters), identity, reading);
      }
    }
    if (reading.end < 0) {
      throw missingEnd(path, offset);
    }
  }

  private static void readCounters(Disk disk, Path path, long identity, Outline reading)
      throws IOException {
    try {
      if (!disk.exists(path)) {
        throw new DamageException(Damage.SNAPSHOT, path, 0, "the file is missing");
      }
      readFile(disk, path, identity, reading);
    } catch (DamageException e) {
      reading.damages.add(e); // a salvage keeps those that have changed since
    }
    reading.end = -1; // of that file
  }

  private static DamageException missingEnd(Path path, long offset) {
    return new DamageException(Damage.SNAPSHOT, path, offset, "the end is missing");
  }

  private static ByteBuffer frameAt(Disk disk, Path path, long offset, long size)
      throws IOException {
    ByteBuffer head = ByteBuffer.allocate(Frame.HEAD_BYTES);
    disk.read(path, offset, head);
    long payload = Math.max(0, head.getInt(4));
    long length = Math.min(Frame.HEAD_BYTES + payload, size - offset);
    ByteBuffer in = ByteBuffer.allocate((int) Math.min(length, Integer.MAX_VALUE - 8));
    disk.read(path, offset, in);
    return in.flip();
  }

  /** Reads all records of a snapshot, and keeps those that are not part of the state. */
  private static class Outline implements Records.Reader {
    final List<IdFileName> idFiles = new ArrayList<>();
    final List<DamageException> damages = new ArrayList<>();
    @Nullable Start start;
    String counters = ""; // the name of the file
    long end = -1;

    @Override
    public void name(int ordinal, String name) {}

    @Override
    public void value(int ordinal, long value) {}

    @Override
    public void once(int ordinal, long high, long low, long delta, long value, int boundsMark) {
      throw new IllegalStateException("a request in a snapshot");
    }

    @Override
    public void cancel(int ordinal, long high, long low) {
      throw new IllegalStateException("a request in a snapshot");
    }

    @Override
    public void expires(int ordinal, long atMillis) {}

    @Override
    public void gone(int ordinal) {
      requireCounters("a removal");
    }

    @Override
    public void free(int ordinal) {
      requireCounters("a free ordinal");
    }

    final void requireCounters(String what) {
      if (counters.isEmpty()) {
        throw new IllegalStateException(what + " without a file of counters");
      }
    }

    @Override
    public void hadIds(int ordinal) {}

    @Override
    public void text(int ordinal, byte[] text) {}

    @Override
    public void transaction(TransactionRecord transaction) {
      throw new IllegalStateException("a transaction in a snapshot");
    }

    @Override
    public void hold(HoldRecord hold) {}

    @Override
    public void scale(int ordinal, int scale) {}

    @Override
    public void item(Key key, Optional<Item> item) {}

    @Override
    public void bucket(long startMillis, long endMillis) {
      throw new IllegalStateException("a bucket in a snapshot");
    }

    @Override
    public void before(ByteBuffer in) {
      throw new IllegalStateException("an entry of the history in a snapshot");
    }

    @Override
    public void thresholds(ByteBuffer in) {}

    /** Returns the name of a file of counters that must be read before the next frame; or empty. */
    String takeCounters() {
      return "";
    }

    void salvaged() {}

    void expect(long counters) {}

    void page(int number, ByteBuffer image) {}

    void order(IntBuffer ordinals) {}

    /** Completes what was read so far. */
    void finish() {}

    /** The end was read. */
    void end() {}

    @Override
    public void snapshot(byte kind, ByteBuffer in) {
      switch (kind) {
        case Records.START -> {
          Start read = new Start(Records.unsigned(in), Records.unsigned(in), Records.unsigned(in));
          start = start == null ? read : start; // a file of counters has its own
        }
        case Records.ID_FILE -> idFiles.add(new IdFileName(Records.text(in), Records.unsigned(in)));
        case Records.SALVAGED -> salvaged();
        case Records.SIZE -> expect(Records.unsigned(in));
        case Records.PAGE -> page((int) Records.unsigned(in), part(in, Records.unsigned(in)));
        case Records.ORDER -> order(part(in, Integer.BYTES * Records.unsigned(in)).asIntBuffer());
        case Records.COUNTERS -> counters = Records.text(in);
        case Records.END -> {
          finish();
          end = Records.unsigned(in);
        }
        default -> throw new IllegalStateException("unexpected record kind " + kind);
      }
    }

    private static ByteBuffer part(ByteBuffer in, long length) {
      ByteBuffer part = in.slice(in.position(), Math.toIntExact(length));
      in.position(in.position() + part.limit());
      return part;
    }
  }

  /** Applies the records of a snapshot. */
  private static final class Reading extends Outline {
    private final State state;
    private final CounterLoader loader;
    private boolean hasOrder;
    private boolean hasReadCounters;

    Reading(State state) {
      this.state = state;
      this.loader = state.counters.loader();
    }

    @Override
    String takeCounters() {
      String taken = hasReadCounters ? "" : counters;
      hasReadCounters |= !taken.isEmpty();
      return taken;
    }

    @Override
    void expect(long names) {
      loader.expect(names);
    }

    @Override
    void page(int number, ByteBuffer image) {
      loader.add(number, image);
    }

    @Override
    void order(IntBuffer ordinals) {
      hasOrder = true;
      loader.order(ordinals);
    }

    @Override
    void finish() {
      loader.finish();
    }

    @Override
    void end() {
      if (hasOrder) { // not in older formats
        loader.ordered();
      }
    }

    /** Returns the state with the pages that were read so far. */
    private State state() {
      loader.finish();
      return state;
    }

    @Override
    public void name(int ordinal, String name) {
      loader.changed(ordinal);
      state().name(ordinal, name);
    }

    @Override
    public void value(int ordinal, long value) {
      state().value(ordinal, value);
    }

    @Override
    public void gone(int ordinal) {
      requireCounters("a removal");
      state().gone(ordinal);
    }

    @Override
    public void free(int ordinal) {
      requireCounters("a free ordinal");
      loader.changed(ordinal);
      state().free(ordinal);
    }

    @Override
    public void expires(int ordinal, long atMillis) {
      state().expires(ordinal, atMillis);
    }

    @Override
    public void hadIds(int ordinal) {
      state().hadIds(ordinal);
    }

    @Override
    public void text(int ordinal, byte[] text) {
      state().text(ordinal, text);
    }

    @Override
    public void hold(HoldRecord hold) {
      state().hold(hold);
    }

    @Override
    public void scale(int ordinal, int scale) {
      state().scale(ordinal, scale);
    }

    @Override
    public void item(Key key, Optional<Item> item) {
      state.item(key, item);
    }

    @Override
    public void thresholds(ByteBuffer in) {
      state.thresholds(in);
    }

    @Override
    void salvaged() {
      state.isSalvaged = true;
    }
  }
}
