package dev.quipu.dynamodb;

import dev.quipu.NotAppliedException;
import dev.quipu.Reason;
import java.util.Arrays;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The names of keys, partitions and fields in a table. */
enum Layout {
  /** Keys {@code pk} and {@code sk}; a field is the attribute {@code f:NAME}. */
  QUIPU("pk", "sk"),

  /**
   * A table in which another program counts views, as described by "Implementing accurate counters
   * in DynamoDB using Python". The partition of a page, views/URL, has the key PK = {@code
   * URL#URL}; the field "views" is the attribute {@code views}; and the times in the sort keys of
   * views are in UTC, like {@code 2022-03-28T13:17:23+00:00}: without a fraction, or with one of
   * six digits, or with one of nine where six are too few. This keeps the order. All else is as in
   * {@link #QUIPU}.
   */
  VIEWS("PK", "SK");

  private static final String FIELD = "f:";
  private static final String PAGES = "views/";
  private static final String PAGES_IN_VIEWS = "URL#";
  private static final String COUNT = "views";
  private static final String BY_TIME = "T#";
  private static final String SECONDS = "T#(\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d)";
  private static final Pattern TIME = Pattern.compile(SECONDS + "\\.(\\d{9})Z(.*)", Pattern.DOTALL);
  private static final Pattern TIME_IN_VIEWS =
      Pattern.compile(SECONDS + "(?:\\.(\\d{6}|\\d{9}))?\\+00:00(#.*)?", Pattern.DOTALL);
  private static final String NO_FRACTION = "000000000";
  private static final int MICROS = 6; // digits

  private final String partitionName;
  private final String sortName;

  Layout(String partitionName, String sortName) {
    this.partitionName = partitionName;
    this.sortName = sortName;
  }

  /**
   * Returns the layout of this name.
   *
   * @throws IllegalArgumentException if there is none, listing the known ones
   */
  static Layout named(String name) {
    return Arrays.stream(values())
        .filter(each -> each.label().equals(name))
        .findFirst()
        .orElseThrow(() ->
            new IllegalArgumentException(
                "layout in the store's URI is '%s'; known: %s"
                    .formatted(
                        name,
                        Arrays.stream(values())
                            .map(Layout::label)
                            .collect(Collectors.joining(", ")))));
  }

  /** Returns the name of the layout in a URI. */
  String label() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** Returns the name of the attribute of the partition key. */
  String partitionName() {
    return partitionName;
  }

  /** Returns the name of the attribute of the sort key. */
  String sortName() {
    return sortName;
  }

  /** Returns a partition as stored. */
  String partition(String partition) {
    return isPage(partition) ? PAGES_IN_VIEWS + partition.substring(PAGES.length()) : partition;
  }

  private boolean isPage(String partition) {
    return this == VIEWS && partition.startsWith(PAGES);
  }

  /** Returns a sort, or a bound of sorts, as stored. */
  String sort(String partition, String sort) {
    if (!isPage(partition)) {
      return sort;
    }
    Matcher time = TIME.matcher(sort);
    return time.matches()
        ? BY_TIME + time.group(1) + fraction(time.group(2)) + "+00:00" + time.group(3)
        : sort;
  }

  private static String fraction(String nanos) {
    if (nanos.equals(NO_FRACTION)) {
      return "";
    }
    return "." + (nanos.endsWith("000") ? nanos.substring(0, MICROS) : nanos);
  }

  /**
   * Returns the sort that is stored as {@code stored}.
   *
   * @throws NotAppliedException if it is of a view whose time has another format
   */
  String sortOf(String partition, String stored) {
    if (!isPage(partition)) {
      return stored;
    }
    requireSupported(partition(partition), stored);
    Matcher time = TIME_IN_VIEWS.matcher(stored);
    return time.matches()
        ? "%s%s.%sZ%s"
            .formatted(BY_TIME, time.group(1), nanos(time.group(2)), orEmpty(time.group(3)))
        : stored;
  }

  private static String nanos(@Nullable String fraction) {
    String digits = orEmpty(fraction);
    return digits + NO_FRACTION.substring(digits.length());
  }

  private static String orEmpty(@Nullable String text) {
    return text == null ? "" : text;
  }

  /**
   * Checks the sort key of an item that another program may have stored.
   *
   * @param partition as stored
   * @throws NotAppliedException if it is of a view, and has a time whose format differs from that
   *     of this layout: the view would not be recognized
   */
  void requireSupported(String partition, String stored) {
    if (this != VIEWS || !partition.startsWith(PAGES_IN_VIEWS) || !stored.startsWith(BY_TIME)) {
      return;
    }
    Matcher time = TIME_IN_VIEWS.matcher(stored);
    boolean isCanonical =
        time.matches()
            && fraction(nanos(time.group(2)))
                .equals(time.group(2) == null ? "" : "." + time.group(2));
    if (!isCanonical) {
      throw new NotAppliedException(
          Reason.INVALID,
          ("view %s of %s has a time in a format that layout=views does not support: it must be in"
                  + " UTC, like 2022-03-28T13:17:23+00:00, with no fraction or one of 6 digits")
              .formatted(stored, partition));
    }
  }

  /** Returns the name of the attribute of a field. */
  String attribute(String field) {
    return this == VIEWS && field.equals(COUNT) ? COUNT : FIELD + field;
  }

  /** Returns the field of an attribute; null if it is of none. */
  @Nullable String field(String attribute) {
    if (this == VIEWS && attribute.equals(COUNT)) {
      return COUNT;
    }
    return attribute.startsWith(FIELD) ? attribute.substring(FIELD.length()) : null;
  }
}
