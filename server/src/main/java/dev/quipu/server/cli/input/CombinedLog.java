package dev.quipu.server.cli.input;

import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeParseException;
import java.time.format.ResolverStyle;
import java.util.Locale;

/**
 * Parses lines of a web server's access log in the common or combined format:
 *
 * <pre>
 * 83.149.9.216 - - [17/May/2015:10:05:03 +0000] "GET /page HTTP/1.1" 200 203023 "referrer" "agent"
 * </pre>
 *
 * <p>Parsed without a regular expression: one that skips escaped quotes takes a stack frame for
 * each character, and overflows the stack on a long line.
 */
public final class CombinedLog {
  /** Strict: 31 February is an error, not the last day of that month. */
  private static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("dd/MMM/uuuu:HH:mm:ss Z", Locale.ENGLISH)
          .withResolverStyle(ResolverStyle.STRICT);

  /** The last time that was parsed: lines of a log often have the same. */
  private static volatile ParsedTime lastTime = new ParsedTime("", Instant.EPOCH);

  private record ParsedTime(String text, Instant time) {}

  private CombinedLog() {}

  /**
   * A request.
   *
   * @param agent the user agent; empty if the line, as in the common format, has none
   */
  public record Request(
      String method, String url, Instant time, String client, int status, String agent) {}

  /**
   * Parses a line.
   *
   * @throws IllegalArgumentException naming the invalid field
   */
  public static Request parse(String line) {
    int clientEnd = line.indexOf(' ');
    if (clientEnd <= 0) {
      throw new IllegalArgumentException("client address: the line does not start with one");
    }
    // A user name may contain brackets, but no unescaped quote.
    int timeEnd = line.indexOf("] \"", clientEnd);
    int timeStart = line.lastIndexOf(" [", timeEnd);
    if (timeStart < clientEnd) {
      throw new IllegalArgumentException(
          "not in combined-log format: no [time] before a \"request\"");
    }
    int requestStart = timeEnd + "] \"".length();
    int requestEnd = closingQuote(line, requestStart);
    if (requestEnd < 0) {
      throw new IllegalArgumentException("request: no closing quote");
    }
    String[] request = line.substring(requestStart, requestEnd).split(" ", -1);
    if (request.length != 3) {
      throw new IllegalArgumentException("request: not METHOD URL VERSION");
    }
    String client = checkEncoding("client address", line.substring(0, clientEnd));
    String url = checkEncoding("request", request[1]);
    Instant time = time(line.substring(timeStart + " [".length(), timeEnd));
    String agent = agent(line, requestEnd);
    return new Request(request[0], url, time, client, status(line, requestEnd + 1), agent);
  }

  private static int status(String line, int start) {
    int end = start + " 200".length();
    boolean isNumber =
        line.length() >= end
            && (line.length() == end || line.charAt(end) == ' ')
            && line.charAt(start) == ' ';
    for (int i = start + 1; isNumber && i < end; i++) {
      isNumber = line.charAt(i) >= '0' && line.charAt(i) <= '9';
    }
    if (!isNumber) {
      throw new IllegalArgumentException("status: no number of three digits after the request");
    }
    return Integer.parseInt(line, start + 1, end, 10);
  }

  /** Returns the second quoted text after the request. */
  private static String agent(String line, int requestEnd) {
    int referrerStart = line.indexOf('"', requestEnd + 1);
    int referrerEnd = referrerStart < 0 ? -1 : closingQuote(line, referrerStart + 1);
    int start = referrerEnd < 0 ? -1 : line.indexOf('"', referrerEnd + 1);
    int end = start < 0 ? -1 : closingQuote(line, start + 1);
    return end < 0 ? "" : line.substring(start + 1, end);
  }

  private static int closingQuote(String line, int start) {
    for (int i = start; i < line.length(); i++) {
      char c = line.charAt(i);
      if (c == '"') {
        return i;
      }
      if (c == '\\') {
        i++; // skips the escaped character
      }
    }
    return -1;
  }

  private static Instant time(String text) {
    ParsedTime last = lastTime;
    if (text.equals(last.text)) {
      return last.time;
    }
    try {
      Instant time = OffsetDateTime.parse(text, TIME).toInstant();
      lastTime = new ParsedTime(text, time);
      return time;
    } catch (DateTimeParseException e) {
      throw new IllegalArgumentException("time: not like 17/May/2015:10:05:03 +0000", e);
    }
  }

  /** Rejects replacement characters: bytes that are not UTF-8 would make distinct URLs equal. */
  static String checkEncoding(String field, String text) {
    if (text.indexOf('\uFFFD') >= 0) {
      throw new IllegalArgumentException(field + ": not UTF-8");
    }
    return text;
  }
}
