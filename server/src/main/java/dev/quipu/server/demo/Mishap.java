package dev.quipu.server.demo;

import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;

/** What happens while clients count. */
public enum Mishap {
  /** Nothing: one add succeeds. */
  NONE("add", 1, "one add, without a failure"),
  /** The store applies an add, and its reply is lost. */
  LOST_REPLY("drop-reply", 1, "the store applies an add, and the reply is lost"),
  /** A queue delivers an add twice. */
  DELIVERED_TWICE("deliver-twice", 1, "a queue delivers an add twice"),
  /** A writer ends before or after its write; a queue delivers the add to another writer. */
  KILLED_WRITER("kill-writer", 1, "a writer dies before or after its write"),
  /** Requests or replies of a region are lost for a while. */
  PARTITION("partition", Mishap.ADDS_OF_A_PARTITION, "a region is cut off during five adds");

  private static final int ADDS_OF_A_PARTITION = 5;

  private final String word;
  private final int adds;
  private final String text;

  Mishap(String word, int adds, String text) {
    this.word = word;
    this.adds = adds;
    this.text = text;
  }

  /** Returns its name in commands and requests. */
  public String word() {
    return word;
  }

  /** Returns how many adds clients make meanwhile. */
  public int adds() {
    return adds;
  }

  /** Returns what happens, in words. */
  public String text() {
    return text;
  }

  /**
   * Returns the mishap with a name.
   *
   * @throws IllegalArgumentException listing all if there is none
   */
  public static Mishap named(String word) {
    return Arrays.stream(values())
        .filter(each -> each.word.equals(word.toLowerCase(Locale.ROOT)))
        .findFirst()
        .orElseThrow(() ->
            new IllegalArgumentException(
                "no action '%s'; use %s"
                    .formatted(
                        word,
                        Arrays.stream(values())
                            .map(Mishap::word)
                            .collect(Collectors.joining(", ")))));
  }
}
