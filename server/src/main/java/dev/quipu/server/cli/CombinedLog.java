package dev.quipu.server.cli;

import dev.quipu.technique.ViewEvent;
import java.time.OffsetDateTime;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeParseException;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Lines of a web server's access log in the common or combined format:
 *
 * <pre>
 * 83.149.9.216 - - [17/May/2015:10:05:03 +0000] "GET /page HTTP/1.1" 200 203023 "referrer" "agent"
 * </pre>
 *
 * <p>A line is a view of the URL of its request line, at its time, by its client address, whatever
 * its method and status.
 */
final class CombinedLog {
  private static final Pattern LINE =
      Pattern.compile(
          "(?<client>\\S+) \\S+ (?:[^\\[]*) ?\\[(?<time>[^\\]]*)] \"(?<request>(?:[^\"\\\\]|\\\\.)*)\".*");
  private static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("dd/MMM/yyyy:HH:mm:ss Z", Locale.ENGLISH);

  private CombinedLog() {}

  /**
   * Reads a line.
   *
   * @throws IllegalArgumentException naming the field that is wrong
   */
  static ViewEvent parse(String line) {
    Matcher matcher = LINE.matcher(line);
    if (!matcher.matches()) {
      throw new IllegalArgumentException("not a line of the combined log format");
    }
    String[] request = matcher.group("request").split(" ", -1);
    if (request.length != 3) {
      throw new IllegalArgumentException("request: not METHOD URL VERSION");
    }
    try {
      OffsetDateTime time = OffsetDateTime.parse(matcher.group("time"), TIME);
      return new ViewEvent(request[1], time.toInstant(), matcher.group("client"));
    } catch (DateTimeParseException e) {
      throw new IllegalArgumentException("time: not like 17/May/2015:10:05:03 +0000", e);
    }
  }
}
