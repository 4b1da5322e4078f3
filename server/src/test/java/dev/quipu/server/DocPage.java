package dev.quipu.server;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The shell blocks of a page, by the convention of CONTRIBUTING.md, "Executable documentation".
 *
 * @param name the path of the page below the root of the project
 * @param needs the stores that the page needs, as {@code memcached 11211}
 * @param notRun the blocks that are not run, each with its line and its reason
 */
record DocPage(String name, List<String> needs, List<Command> commands, List<String> notRun) {
  private static final Pattern NEEDS = Pattern.compile("<!-- needs: (.+) -->");
  private static final Pattern NOT_RUN = Pattern.compile("<!-- not run: (.+) -->");
  private static final Pattern FILE = Pattern.compile("<!-- file: (\\S+) -->");
  private static final Pattern FENCE = Pattern.compile("```(sh|bash|shell|console)");
  private static final Pattern INLINE = Pattern.compile("(.*?\\S) {2,}# (.*)");
  private static final Pattern EXIT = Pattern.compile("# exit (\\d+)");
  private static final String ANY = "…";

  /**
   * One command of a page.
   *
   * @param line its first line in the page
   * @param output the lines that the page shows below it
   */
  record Command(int line, String text, List<String> output, int exit) {
    private static final Pattern SERVER =
        Pattern.compile("(?s)\\./quipu (serve|simpledb-local)\\b(.*?)( &)?");

    /** Returns whether it starts a server; one that the page shows to end is a command. */
    boolean isServer() {
      return SERVER.matcher(text).matches() && output.isEmpty() && exit == 0;
    }

    /** Returns {@code serve} or {@code simpledb-local}: a page runs at most one of each. */
    String server() {
      Matcher matcher = SERVER.matcher(text);
      if (!matcher.matches()) {
        throw new IllegalStateException("not a server: " + text);
      }
      return matcher.group(1);
    }

    /** Returns what the shell runs: without the ampersand, since the test waits for the server. */
    String shellText() {
      return isServer() ? "exec " + text.replaceFirst(" &$", "") : text;
    }

    /** Returns whether printed text is what the page shows. */
    boolean shows(String printed) {
      StringBuilder regex = new StringBuilder();
      for (String each : output) {
        if (each.equals(ANY)) {
          regex.append("(?s:.*?)");
          continue;
        }
        for (String part : each.splitWithDelimiters(ANY, 0)) {
          regex.append(part.equals(ANY) ? "[^\n]*?" : Pattern.quote(part));
        }
        regex.append('\n');
      }
      return Pattern.matches(regex.toString(), printed);
    }
  }

  /** Reads a page. */
  static DocPage read(Path root, Path file) throws IOException {
    DocPage page =
        new DocPage(
            root.relativize(file).toString(),
            new ArrayList<>(),
            new ArrayList<>(),
            new ArrayList<>());
    List<String> lines = Files.readAllLines(file);
    for (int i = 0; i < lines.size(); i++) {
      Matcher needs = NEEDS.matcher(lines.get(i));
      if (needs.matches()) {
        page.needs.addAll(List.of(needs.group(1).split(", ", -1)));
      }
      Matcher named = FILE.matcher(i == 0 ? "" : lines.get(i - 1));
      if (!named.matches() && !FENCE.matcher(lines.get(i)).matches()) {
        continue;
      }
      Matcher reason = NOT_RUN.matcher(i == 0 ? "" : lines.get(i - 1));
      int end = i + 1;
      while (!lines.get(end).equals("```")) {
        end++;
      }
      if (named.matches()) {
        String text = String.join("\n", lines.subList(i + 1, end));
        String write = "cat > %s <<'END OF FILE'%n%s%nEND OF FILE".formatted(named.group(1), text);
        page.commands.add(new Command(i + 1, write, List.of(), 0));
      } else if (reason.matches()) {
        page.notRun.add(page.name + ":" + (i + 1) + ": " + reason.group(1));
      } else {
        page.readBlock(lines, i + 1, end);
      }
      i = end;
    }
    return page;
  }

  private void readBlock(List<String> lines, int from, int to) {
    int i = from;
    while (i < to) {
      int first = i;
      StringBuilder text = new StringBuilder(lines.get(i));
      while (lines.get(i).endsWith("\\")) {
        i++;
        text.append('\n').append(lines.get(i));
      }
      i++;
      List<String> output = new ArrayList<>();
      Matcher inline = INLINE.matcher(text);
      String command = text.toString();
      if (inline.matches()) {
        command = inline.group(1);
        output.add(inline.group(2));
      }
      int exit = 0;
      while (i < to && lines.get(i).startsWith("#")) {
        Matcher status = EXIT.matcher(lines.get(i));
        if (status.matches()) {
          exit = Integer.parseInt(status.group(1));
        } else {
          output.add(lines.get(i).replaceFirst("^# ?", ""));
        }
        i++;
      }
      if (command.startsWith("#")) {
        throw new IllegalStateException(name + ":" + (first + 1) + ": output without a command");
      }
      if (!command.isBlank()) {
        commands.add(new Command(first + 1, command, output, exit));
      }
    }
  }
}
