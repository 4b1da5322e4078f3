package dev.quipu.server.http;

import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** The text that a server returns for its metrics. */
record Exposition(List<Series> series, Map<String, String> types, Map<String, String> helps) {
  private static final Pattern TYPE = Pattern.compile("# TYPE (\\S+) (\\S+)");
  private static final Pattern HELP = Pattern.compile("# HELP (\\S+) (.+)");
  private static final Pattern LINE =
      Pattern.compile("([a-zA-Z_:][a-zA-Z0-9_:]*)(\\{(.*)})? (\\S+)");
  private static final Pattern LABEL =
      Pattern.compile("([a-zA-Z_][a-zA-Z0-9_]*)=\"([^\"]*)\"(,|$)");

  /** One value. */
  record Series(String name, Map<String, String> labels, double value) {
    boolean has(Map<String, String> some) {
      return labels.entrySet().containsAll(some.entrySet());
    }
  }

  /** Parses the text; a line that is neither a comment nor a value is an error. */
  static Exposition parse(String text) {
    List<Series> series =
        text.lines().filter(line -> !line.startsWith("#")).map(Exposition::series).toList();
    Map<String, String> types = new TreeMap<>();
    Matcher type = TYPE.matcher(text);
    while (type.find()) {
      types.put(type.group(1), type.group(2));
    }
    Map<String, String> helps = new TreeMap<>();
    Matcher help = HELP.matcher(text);
    while (help.find()) {
      helps.put(help.group(1), help.group(2));
    }
    return new Exposition(series, types, helps);
  }

  /** Returns these metrics with those of another server. */
  Exposition and(Exposition other) {
    Map<String, String> allTypes = new TreeMap<>(types);
    allTypes.putAll(other.types);
    Map<String, String> allHelps = new TreeMap<>(helps);
    allHelps.putAll(other.helps);
    List<Series> all = Stream.concat(series.stream(), other.series.stream()).toList();
    return new Exposition(all, allTypes, allHelps);
  }

  private static Series series(String line) {
    Matcher parts = LINE.matcher(line);
    if (!parts.matches()) {
      throw new AssertionError("malformed line: " + line);
    }
    String labels = parts.group(3) == null ? "" : parts.group(3);
    return new Series(parts.group(1), labels(labels), Double.parseDouble(parts.group(4)));
  }

  private static Map<String, String> labels(String text) {
    Map<String, String> labels = new LinkedHashMap<>();
    Matcher label = LABEL.matcher(text);
    int end = 0;
    while (end < text.length()) {
      if (!label.find(end) || label.start() != end) {
        throw new AssertionError("malformed labels: " + text);
      }
      labels.put(label.group(1), label.group(2));
      end = label.end();
    }
    return labels;
  }

  /** Returns the sum of the series with this name and these labels, of which there must be one. */
  double sum(String name, String... labels) {
    Map<String, String> wanted = new LinkedHashMap<>();
    for (int i = 0; i < labels.length; i += 2) {
      wanted.put(labels[i], labels[i + 1]);
    }
    List<Series> found =
        series.stream().filter(each -> each.name.equals(name) && each.has(wanted)).toList();
    if (found.isEmpty()) {
      throw new AssertionError("no series " + name + wanted + " among " + names());
    }
    return found.stream().mapToDouble(Series::value).sum();
  }

  private List<String> names() {
    return series.stream().map(Series::name).distinct().sorted(Comparator.naturalOrder()).toList();
  }
}
