package dev.quipu.server.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Checks {@code docs/reference/sources.md}: each claim of the articles has an implementation, a
 * test, a page and a status, and all of them exist.
 */
final class SourcesTest {
  /** Whether claims may be open, while they are being implemented. */
  private static final boolean MAY_BE_OPEN = true;

  private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();
  private static final Path PAGE = ROOT.resolve("docs/reference/sources.md");

  /** In the table of articles: the letter of its rows twice, and their number. */
  private static final Pattern ARTICLE = Pattern.compile("\\| ([A-Z])1 to ([A-Z])(\\d+) \\|");

  private static final Pattern NAME = Pattern.compile("`([A-Z]\\w*)(?:\\.(\\w+))?`");
  private static final Pattern LINK = Pattern.compile("\\[[^]]+\\]\\(([^)#]+)(?:#[^)]*)?\\)");
  private static final Pattern TEST = Pattern.compile("\\w+(Test|IT|Contract)");
  private static final Pattern DECLINED = Pattern.compile("declined \\(decision (\\d{4})\\)");
  private static final Pattern OPEN = Pattern.compile("open: \\S.*");

  /** A row of the page. */
  private record Row(
      String id,
      String section,
      String claim,
      String implementation,
      String test,
      String page,
      String status) {
    static Row of(String line) {
      String[] cells = line.split(" *\\| *", -1);
      assertEquals(9, cells.length, line);
      return new Row(cells[1], cells[2], cells[3], cells[4], cells[5], cells[6], cells[7]);
    }
  }

  private static List<Row> rows() throws IOException {
    return rows(Files.readString(PAGE));
  }

  private static List<Row> rows(String page) {
    return page.lines().filter(line -> line.matches("\\| [A-Z]\\d+ \\|.*")).map(Row::of).toList();
  }

  /** Returns the violations of a row, apart from an open status. */
  private static List<String> violations(Row row, Map<String, List<Path>> sources)
      throws IOException {
    List<String> wrong = new ArrayList<>();
    if (row.section.isBlank() || row.claim.isBlank()) {
      wrong.add("section or claim is missing");
    }
    int named = names(row.implementation, false, sources, wrong);
    named += links(row.implementation, wrong);
    if (named == 0) {
      wrong.add("no implementation");
    }
    if (names(row.test, true, sources, wrong) == 0) {
      wrong.add("no test");
    }
    if (links(row.page, wrong) != 1) {
      wrong.add("no page");
    }
    if (!row.status.equals("done") && !OPEN.matcher(row.status).matches()) {
      wrong.addAll(decision(row.status));
    }
    return wrong.stream().map(each -> row.id + ": " + each).toList();
  }

  /** Checks the classes of a cell; returns their number. */
  private static int names(
      String cell, boolean areTests, Map<String, List<Path>> sources, List<String> wrong)
      throws IOException {
    Matcher name = NAME.matcher(cell);
    int named = 0;
    while (name.find()) {
      named++;
      String type = name.group(1);
      if (areTests != TEST.matcher(type).matches()) {
        wrong.add(type + (areTests ? " is not a test" : " is a test"));
      }
      List<Path> files = sources.getOrDefault(type, List.of());
      if (files.isEmpty()) {
        wrong.add("no class " + type);
      } else if (name.group(2) != null && !hasMember(files, name.group(2), areTests)) {
        wrong.add("no member " + name.group());
      }
    }
    return named;
  }

  private static boolean hasMember(List<Path> files, String member, boolean isTest)
      throws IOException {
    Pattern declared =
        Pattern.compile(isTest ? "\\bvoid " + member + "\\(" : "\\b" + member + "\\b");
    for (Path file : files) {
      if (declared.matcher(Files.readString(file)).find()) {
        return true;
      }
    }
    return false;
  }

  private static int links(String cell, List<String> wrong) {
    Matcher link = LINK.matcher(cell);
    int linked = 0;
    while (link.find()) {
      linked++;
      if (!Files.exists(PAGE.resolveSibling(link.group(1)))) {
        wrong.add("no file " + link.group(1));
      }
    }
    return linked;
  }

  private static List<String> decision(String status) throws IOException {
    Matcher declined = DECLINED.matcher(status);
    if (!declined.matches()) {
      return List.of("status '%s'".formatted(status));
    }
    String prefix = declined.group(1) + "-";
    try (Stream<Path> decisions = Files.list(ROOT.resolve("docs/decisions"))) {
      return decisions.anyMatch(file -> file.getFileName().toString().startsWith(prefix))
          ? List.of()
          : List.of("no decision " + declined.group(1));
    }
  }

  /** Returns the source files by the name of their class. */
  private static Map<String, List<Path>> sources() throws IOException {
    Map<String, List<Path>> sources = new HashMap<>();
    try (Stream<Path> files = Files.walk(ROOT)) {
      files
          .filter(file -> file.toString().endsWith(".java"))
          .filter(file -> ROOT.relativize(file).toString().contains("src/"))
          .forEach(file ->
              sources
                  .computeIfAbsent(
                      file.getFileName().toString().replace(".java", ""), name -> new ArrayList<>())
                  .add(file));
    }
    return sources;
  }

  @Test
  void everyClaimHasItsImplementationTestPageAndStatus() throws IOException {
    Map<String, List<Path>> sources = sources();
    List<String> wrong = new ArrayList<>();
    for (Row row : rows()) {
      wrong.addAll(violations(row, sources));
    }
    assertEquals(List.of(), wrong);
  }

  @Test
  void noClaimIsLeftOut() throws IOException {
    Map<String, Integer> expected = new LinkedHashMap<>();
    Matcher article = ARTICLE.matcher(Files.readString(PAGE));
    while (article.find()) {
      assertEquals(article.group(1), article.group(2));
      expected.put(article.group(1), Integer.parseInt(article.group(3)));
    }
    assertEquals(5, expected.size(), "articles");
    List<String> ids = new ArrayList<>();
    expected.forEach((letter, count) -> {
      for (int i = 1; i <= count; i++) {
        ids.add(letter + i);
      }
    });
    assertEquals(ids, rows().stream().map(Row::id).toList());
  }

  @Test
  void noClaimIsOpen() throws IOException {
    List<String> open =
        rows().stream()
            .filter(row -> OPEN.matcher(row.status).matches())
            .map(row -> row.id + " " + row.status)
            .toList();
    if (MAY_BE_OPEN) {
      System.out.printf("SourcesTest: %d claims are open%n", open.size());
      return;
    }
    assertEquals(List.of(), open);
  }

  /** Rows with one defect each: the checks above would fail. */
  @Test
  void aDefectiveRowIsDetected() throws IOException {
    String row =
        "| S1 | intro | claim | `HitLog.read` | `HitLogTest.boundsAreRejected` (memory)"
            + " | [hit-log](../concepts/hit-log.md) | done |";
    Map<String, List<Path>> sources = sources();
    assertEquals(List.of(), violations(rows(row).getFirst(), sources));
    Map<String, String> defects =
        Map.of(
            "`HitLog.read`", "`HitLogs.read`",
            "HitLog.read", "HitLog.readNothing",
            "| claim", "| ",
            "HitLogTest", "HitLogNoTest",
            "boundsAreRejected", "boundsAreKept",
            "`HitLogTest.boundsAreRejected` (memory)", "none",
            "[hit-log](../concepts/hit-log.md)", "hit-log",
            "concepts/hit-log.md", "concepts/hit-logs.md",
            "done", "later",
            "| done", "| declined (decision 9999)");
    for (Map.Entry<String, String> defect : defects.entrySet()) {
      String defective = row.replace(defect.getKey(), defect.getValue());
      assertNotEquals(List.of(), violations(rows(defective).getFirst(), sources), defective);
    }
  }
}
