package dev.quipu.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The rules of style that can be checked automatically. */
final class TidyTest {
  private static final int FILE_LINES_MAX = 500;
  private static final int TEST_FILE_LINES_MAX = 600;
  private static final int COLUMNS_MAX = 100;
  private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();
  private static final Pattern LINK = Pattern.compile("\\]\\(([^)#:]+)(#[^)]*)?\\)");
  private static final Pattern CLOCK =
      Pattern.compile(
          "System\\.(currentTimeMillis|nanoTime)|Instant\\.now\\(|Math\\.random|Thread\\.sleep"
              + "|new (Secure)?Random\\(|SplittableRandom|ThreadLocalRandom");
  private static final Pattern NAME =
      Pattern.compile(
          "(class|interface|record|enum) (Abstract\\w+|\\w+(Impl|Utils?|Manager|Helper))\\b");

  /** Among the properties of the project, which come before its dependencies and profiles. */
  private static final Pattern MODULE_NAME =
      Pattern.compile("(?s)\\A(?:(?!<dependencies>|<profiles>).)*<automatic\\.module\\.name>dev");

  private static final Pattern COMMENT_OR_STRING =
      Pattern.compile(
          "(?s)/\\*.*?\\*/|\"\"\".*?\"\"\"|(?-s)//.*"
              + "|\"(?:\\\\.|[^\"\\\\\n])*\"|'(?:\\\\.|[^'\\\\])+'");

  /** Stars and slashes at the start of a line of a comment. */
  private static final Pattern LINE_START = Pattern.compile("(?m)^ *(\\*|//)");

  private static List<Path> files(String glob) throws IOException {
    try (Stream<Path> files = Files.walk(ROOT)) {
      List<Path> found =
          files
              .filter(Files::isRegularFile)
              .filter(file ->
                  !ROOT.relativize(file)
                      .toString()
                      .matches("(.*/)?(target|node_modules|\\.git)/.*"))
              .filter(file -> file.getFileName().toString().matches(glob))
              .toList();
      assertFalse(found.isEmpty(), "there is no " + glob + " below " + ROOT);
      return found;
    }
  }

  /** Checks each line of each file and collects the violations. */
  private interface Look {
    boolean isWrong(Path file, String line);
  }

  private static void noLine(String glob, Look look) throws IOException {
    List<String> wrong = new ArrayList<>();
    for (Path file : files(glob)) {
      List<String> lines = Files.readAllLines(file);
      for (int i = 0; i < lines.size(); i++) {
        if (look.isWrong(file, lines.get(i))) {
          wrong.add(ROOT.relativize(file) + ":" + (i + 1) + ": " + lines.get(i).strip());
        }
      }
    }
    assertEquals(List.of(), wrong);
  }

  private static boolean isTest(Path file) {
    return file.toString().contains("/src/test/") || file.toString().contains("/testkit/");
  }

  @Test
  void filesAreShort() throws IOException {
    List<String> wrong = new ArrayList<>();
    for (Path file : files(".*\\.java")) {
      int lines = Files.readAllLines(file).size();
      if (lines > (isTest(file) ? TEST_FILE_LINES_MAX : FILE_LINES_MAX)) {
        wrong.add(ROOT.relativize(file) + " has " + lines + " lines");
      }
    }
    assertEquals(List.of(), wrong);
  }

  @Test
  void linesAreShort() throws IOException {
    // Like the formatter, this ignores long texts, and imports.
    noLine(
        ".*\\.java",
        (file, line) ->
            line.length() > COLUMNS_MAX && !line.contains("\"") && !line.startsWith("import "));
  }

  @Test
  void onlyTheTimePackageReadsClocksAndChance() throws IOException {
    noLine(
        ".*\\.java",
        (file, line) ->
            !isTest(file)
                && !file.startsWith(ROOT.resolve("samples")) // applications
                && !file.toString().contains("/dev/quipu/time/")
                && CLOCK.matcher(line).find());
  }

  @Test
  void namesSayWhatThingsAre() throws IOException {
    noLine(".*\\.java", (file, line) -> NAME.matcher(line).find());
  }

  @Test
  void nothingIsLeftToBeFixed() throws IOException {
    Pattern left = Pattern.compile("\\b(FIX" + "ME|TO" + "DO)\\b");
    noLine(".*\\.(java|md|sh|xml)", (file, line) -> left.matcher(line).find());
  }

  private static Pattern bannedIdioms() throws IOException {
    try (Stream<String> lines = Files.lines(ROOT.resolve("tools/banned-words.txt"))) {
      String idioms =
          lines
              .filter(line -> !line.isBlank() && !line.startsWith("#"))
              .map(line -> line.replace(" ", "\\s+"))
              .collect(Collectors.joining("|"));
      return Pattern.compile("\\b(?:" + idioms + ")\\b", Pattern.CASE_INSENSITIVE);
    }
  }

  /** Collects the idioms in a text; an idiom may go over the end of a line. */
  private static void findIdioms(Pattern idioms, Path file, String text, List<String> wrong) {
    Matcher matcher = idioms.matcher(text);
    while (matcher.find()) {
      long line = 1 + text.substring(0, matcher.start()).chars().filter(c -> c == '\n').count();
      wrong.add("%s:%d: %s".formatted(ROOT.relativize(file), line, matcher.group()));
    }
  }

  @Test
  void proseHasNoBannedIdiom() throws IOException {
    Pattern idioms = bannedIdioms();
    List<String> wrong = new ArrayList<>();
    for (Path file : files(".*\\.md")) {
      String name = ROOT.relativize(file).toString();
      if (!name.equals("CHANGELOG.md")) {
        // Old decisions keep their file names.
        findIdioms(idioms, file, LINK.matcher(Files.readString(file)).replaceAll("]"), wrong);
      }
    }
    assertEquals(List.of(), wrong);
  }

  @Test
  void commentsAndStringsHaveNoBannedIdiom() throws IOException {
    Pattern idioms = bannedIdioms();
    List<String> wrong = new ArrayList<>();
    for (Path file : files(".*\\.java")) {
      findIdioms(idioms, file, commentsAndStrings(Files.readString(file)), wrong);
    }
    assertEquals(List.of(), wrong);
  }

  /**
   * Returns a text of the same length and lines, in which all else is blank: also what is between
   * two parts of one comment or one concatenated string.
   */
  private static String commentsAndStrings(String source) {
    char[] text = new char[source.length()];
    for (int i = 0; i < text.length; i++) {
      text[i] = source.charAt(i) == '\n' ? '\n' : ' ';
    }
    Matcher matcher = COMMENT_OR_STRING.matcher(source);
    while (matcher.find()) {
      String part = matcher.group();
      for (int i = 0; i < part.length(); i++) {
        if (part.charAt(i) != '\n' && part.charAt(i) != '"') {
          text[matcher.start() + i] = part.charAt(i);
        }
      }
    }
    return LINE_START
        .matcher(new String(text))
        .replaceAll(match -> " ".repeat(match.end() - match.start()));
  }

  @Test
  void everyPackageIsNullMarked() throws IOException {
    List<String> wrong = new ArrayList<>();
    for (Path file : files(".*\\.java")) {
      Path info = file.resolveSibling("package-info.java");
      boolean isIn =
          !file.getFileName().toString().equals("module-info.java")
              && !file.startsWith(ROOT.resolve("samples")) // applications
              && !file.startsWith(ROOT.resolve("tools")); // programs of one file
      if (isIn && !(Files.exists(info) && Files.readString(info).contains("@NullMarked"))) {
        wrong.add(ROOT.relativize(file).toString());
      }
    }
    assertEquals(List.of(), wrong);
  }

  /** A profile's property would name the module only in that profile. */
  @Test
  void everyModuleHasAName() throws IOException {
    List<String> wrong = new ArrayList<>();
    for (Path pom : files("pom\\.xml")) {
      Path sources = pom.resolveSibling("src/main/java");
      boolean isNamed =
          pom.startsWith(ROOT.resolve("samples")) // applications
              || Files.exists(sources.resolve("module-info.java"))
              || MODULE_NAME.matcher(Files.readString(pom)).find();
      if (Files.exists(sources) && !isNamed) {
        wrong.add(ROOT.relativize(pom).toString());
      }
    }
    assertEquals(List.of(), wrong);
  }

  @Test
  void linksBetweenDocumentsLeadSomewhere() throws IOException {
    List<String> wrong = new ArrayList<>();
    for (Path file : files(".*\\.md")) {
      Matcher matcher = LINK.matcher(Files.readString(file));
      while (matcher.find()) {
        if (!Files.exists(file.resolveSibling(matcher.group(1)))) {
          wrong.add(ROOT.relativize(file) + " links to " + matcher.group(1));
        }
      }
    }
    assertEquals(List.of(), wrong);
  }

  @Test
  void documentsHaveOneTitle() throws IOException {
    List<String> wrong = new ArrayList<>();
    for (Path file : files(".*\\.md")) {
      boolean code = false;
      int titles = 0;
      for (String line : Files.readAllLines(file)) {
        code ^= line.startsWith("```");
        titles += !code && line.startsWith("# ") ? 1 : 0;
      }
      if (titles != 1) {
        wrong.add(ROOT.relativize(file) + " has " + titles + " titles");
      }
    }
    assertEquals(List.of(), wrong);
  }
}
