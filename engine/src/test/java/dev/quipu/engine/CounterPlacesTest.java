package dev.quipu.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.RequestId;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Counters by their place, as the ports add to them. */
final class CounterPlacesTest {
  private static final RequestId ID = RequestId.of("one");

  private final State state = new State(7, 1_000, 1_000);
  private final Group group = new Group(ByteBuffer.allocate(1 << 20));
  private final CounterTurn turn = new CounterTurn(state, group);

  CounterPlacesTest() {
    state.wallMillis = 10;
    state.limitMemory(1 << 20);
    group.begin(null);
  }

  private int place(String name) {
    byte[] bytes = ("x" + name + "y").getBytes(StandardCharsets.UTF_8);
    return turn.placeOf(bytes, 1, bytes.length - 2);
  }

  @Test
  void onlyANumberThatIsThereHasAPlace() {
    assertEquals(-1, place("a"));
    turn.set("a", 5);
    int place = place("a");
    assertTrue(place >= 0 && place < turn.places() && turn.isNumberAt(place));
    assertEquals(5, turn.valueAt(place));
    assertEquals(Optional.of("a"), turn.nameAt(place));
    turn.setText("a", new byte[] {'t'});
    assertFalse(turn.isNumberAt(place));
    assertEquals(-1, place("a"));
    assertTrue(turn.exists("a"));
    turn.set("a", 6);
    turn.expire("a", 11);
    state.wallMillis = 11;
    assertEquals(-1, place("a"));
    assertFalse(turn.isNumberAt(place) || turn.exists("a"));
    assertEquals(Optional.empty(), turn.nameAt(place));
  }

  @Test
  void addsThatNeedMoreThan64BitsAreNotDone() {
    turn.set("high", Long.MAX_VALUE - 1);
    turn.set("low", Long.MIN_VALUE + 1);
    int high = place("high");
    int low = place("low");
    long changes = turn.changeCount();
    assertFalse(turn.addAt(high, 2) || turn.addOnceAt(high, 2, ID.high(), ID.low()));
    assertFalse(turn.addAt(low, -2) || turn.addOnceAt(low, -2, ID.high(), ID.low()));
    assertEquals(changes, turn.changeCount());
    assertTrue(turn.addAt(high, 1) && turn.addOnceAt(low, -1, ID.high(), ID.low()));
    assertEquals(changes + 2, turn.changeCount());
    assertEquals(Long.MAX_VALUE, turn.valueAt(high));
    assertEquals(Long.MIN_VALUE, turn.valueAt(low));
  }

  @Test
  void anIdCountsOnceAtItsPlace() {
    turn.set("a", 1);
    int place = place("a");
    turn.touch(place, ID.high(), ID.low());
    assertTrue(turn.addOnceAt(place, 2, ID.high(), ID.low()));
    assertFalse(turn.addOnceAt(place, 2, ID.high(), ID.low()));
    assertEquals(3, turn.valueAt(place));
  }

  @Test
  void aChangeAtAPlaceIsSeenByWhoWatches() {
    turn.set("a", 1);
    long before = turn.watch("a");
    assertTrue(turn.addAt(place("a"), 1));
    assertEquals(before + 1, turn.changes("a"));
    assertTrue(turn.addOnceAt(place("a"), 1, ID.high(), ID.low()));
    assertEquals(before + 2, turn.changes("a"));
  }

  @Test
  void namesThatWereLookedAtAreCounted() {
    for (String name : List.of("a", "b", "c")) {
      turn.set(name, 1);
    }
    long before = turn.visited();
    assertEquals(Optional.of("b"), turn.nameAt(place("b")));
    assertEquals(before + 1, turn.visited());
    assertEquals(List.of("b", "c"), turn.names("", "a", 10));
    assertEquals(before + 3, turn.visited());
  }

  @Test
  void theFamilyOfAMemberEndsAtTheFirstSeparator() {
    String member = "key" + CounterTurn.MEMBER;
    String ranked = "key" + CounterTurn.RANKED_MEMBER;
    assertEquals(-1, CounterTurn.familyEnd("key"));
    assertEquals(3, CounterTurn.familyEnd(member + "field"));
    assertEquals(3, CounterTurn.familyEnd(ranked + "field"));
    assertEquals(3, CounterTurn.familyEnd(member + "a" + CounterTurn.RANKED_MEMBER));
    assertEquals(3, CounterTurn.familyEnd(ranked + "a" + CounterTurn.MEMBER));
    assertEquals(0, CounterTurn.familyEnd(CounterTurn.MEMBER + "a"));
    assertEquals(0, CounterTurn.familyEnd(CounterTurn.RANKED_MEMBER + "a" + CounterTurn.MEMBER));
  }

  /** What a change announces is never less than what it writes. */
  @Test
  void announcedBytesSuffice() {
    byte[] text = "a text".getBytes(StandardCharsets.US_ASCII);
    String name = "größe";
    ByteBuffer out = ByteBuffer.allocate(1 << 16);
    Group measured = new Group(out);
    measured.begin(null);
    CounterTurn over = new CounterTurn(state, measured);
    int before = out.position();
    over.setText(name, text);
    over.expire(name, Long.MAX_VALUE);
    int most = CounterTurn.bytesMax(2, 2 * name.length() + text.length);
    assertTrue(out.position() - before <= most && most < 1_000, "most: " + most);
    before = out.position();
    over.remove(name);
    assertTrue(out.position() - before <= CounterTurn.endsBytesMax(1));
    assertEquals(10 * CounterTurn.endsBytesMax(1), CounterTurn.endsBytesMax(10));
  }
}
