package dev.quipu.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.RequestId;
import dev.quipu.engine.commit.Group;
import dev.quipu.engine.state.Followers;
import dev.quipu.engine.state.State;
import dev.quipu.engine.state.Watches;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Counters by place, as the ports add to them. */
final class CounterPlacesTest {
  private static final RequestId ID = RequestId.of("one");

  private final State state = new State(7, 1_000, 1_000, 0);
  private final Group group = new Group(ByteBuffer.allocate(1 << 20), new Followers());
  private final CounterAccess access = new CounterAccess(state, group);

  CounterPlacesTest() {
    state.wallMillis = 10;
    state.limitMemory(1 << 20);
    group.begin(null);
  }

  private int place(String name) {
    byte[] bytes = ("x" + name + "y").getBytes(StandardCharsets.UTF_8);
    return access.placeOf(bytes, 1, bytes.length - 2);
  }

  @Test
  void onlyAnExistingNumberHasAPlace() {
    assertEquals(-1, place("a"));
    access.set("a", 5);
    int place = place("a");
    assertTrue(place >= 0 && place < access.places() && access.isIntegerAt(place));
    assertEquals(5, access.valueAt(place));
    assertEquals(Optional.of("a"), access.nameAt(place));
    access.setText("a", new byte[] {'t'});
    assertFalse(access.isIntegerAt(place));
    assertEquals(-1, place("a"));
    assertTrue(access.exists("a"));
    access.set("a", 6);
    access.expire("a", 11);
    state.wallMillis = 11;
    assertEquals(-1, place("a"));
    assertFalse(access.isIntegerAt(place) || access.exists("a"));
    assertEquals(Optional.empty(), access.nameAt(place));
  }

  @Test
  void addsBeyond64BitsAreNotApplied() {
    access.set("high", Long.MAX_VALUE - 1);
    access.set("low", Long.MIN_VALUE + 1);
    int high = place("high");
    int low = place("low");
    long changes = access.changeCount();
    assertFalse(access.addAt(high, 2) || access.addOnceAt(high, 2, ID.high(), ID.low()));
    assertFalse(access.addAt(low, -2) || access.addOnceAt(low, -2, ID.high(), ID.low()));
    assertEquals(changes, access.changeCount());
    assertTrue(access.addAt(high, 1) && access.addOnceAt(low, -1, ID.high(), ID.low()));
    assertEquals(changes + 2, access.changeCount());
    assertEquals(Long.MAX_VALUE, access.valueAt(high));
    assertEquals(Long.MIN_VALUE, access.valueAt(low));
  }

  @Test
  void anIdCountsOnceAtItsPlace() {
    access.set("a", 1);
    int place = place("a");
    access.expectId(place, ID.high(), ID.low());
    access.readIds();
    assertTrue(access.addOnceAt(place, 2, ID.high(), ID.low()));
    assertFalse(access.addOnceAt(place, 2, ID.high(), ID.low()));
    assertEquals(3, access.valueAt(place));
  }

  @Test
  void aChangeAtAPlaceIsSeenByItsWatchers() {
    access.set("a", 1);
    long before = access.watch("a");
    assertTrue(access.addAt(place("a"), 1));
    assertEquals(before + 1, access.changes("a"));
    assertTrue(access.addOnceAt(place("a"), 1, ID.high(), ID.low()));
    assertEquals(before + 2, access.changes("a"));
  }

  @Test
  void visitedNamesAreCounted() {
    for (String name : List.of("a", "b", "c")) {
      access.set(name, 1);
    }
    long before = access.visited();
    assertEquals(Optional.of("b"), access.nameAt(place("b")));
    assertEquals(before + 1, access.visited());
    assertEquals(List.of("b", "c"), access.names("", "a", 10));
    assertEquals(before + 3, access.visited());
  }

  @Test
  void theFamilyOfAMemberEndsAtTheFirstSeparator() {
    String member = "key" + CounterAccess.MEMBER;
    String ranked = "key" + CounterAccess.RANKED_MEMBER;
    assertEquals(-1, Watches.familyEnd("key"));
    assertEquals(3, Watches.familyEnd(member + "field"));
    assertEquals(3, Watches.familyEnd(ranked + "field"));
    assertEquals(3, Watches.familyEnd(member + "a" + CounterAccess.RANKED_MEMBER));
    assertEquals(3, Watches.familyEnd(ranked + "a" + CounterAccess.MEMBER));
    assertEquals(0, Watches.familyEnd(CounterAccess.MEMBER + "a"));
    assertEquals(0, Watches.familyEnd(CounterAccess.RANKED_MEMBER + "a" + CounterAccess.MEMBER));
  }

  /** The announced bytes of a change are an upper bound of the bytes that it writes. */
  @Test
  void announcedBytesSuffice() {
    byte[] text = "a text".getBytes(StandardCharsets.US_ASCII);
    String name = "größe";
    ByteBuffer out = ByteBuffer.allocate(1 << 16);
    Group measured = new Group(out, new Followers());
    measured.begin(null);
    CounterAccess over = new CounterAccess(state, measured);
    int before = out.position();
    over.setText(name, text);
    over.expire(name, Long.MAX_VALUE);
    int most = CounterAccess.bytesMax(2, 2 * name.length() + text.length);
    assertTrue(out.position() - before <= most && most < 1_000, "most: " + most);
    before = out.position();
    over.remove(name);
    assertTrue(out.position() - before <= CounterAccess.endsBytesMax(1));
    assertEquals(10 * CounterAccess.endsBytesMax(1), CounterAccess.endsBytesMax(10));
  }
}
