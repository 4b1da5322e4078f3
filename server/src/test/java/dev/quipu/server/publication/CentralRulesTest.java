package dev.quipu.server.publication;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Defects of a repository are found. */
final class CentralRulesTest {
  private static final String POM =
      """
      <project><groupId>dev.quipu</groupId><artifactId>quipu-a</artifactId><version>1.0.0</version>
      <name>A</name><description>A</description><url>https://a.invalid</url>
      <licenses><license><name>L</name><url>https://l.invalid</url></license></licenses>
      <developers><developer><name>D</name></developer></developers>
      <scm><connection>scm:git:x</connection><url>https://s.invalid</url></scm>
      <dependencies><dependency><groupId>g</groupId><artifactId>d</artifactId>
      <version>2.0</version></dependency></dependencies></project>
      """;

  @TempDir static Path home;
  @TempDir Path repository;

  @BeforeAll
  static void createKey() throws Exception {
    boolean installed;
    try {
      installed = run("gpg", "--version") == 0;
    } catch (IOException e) {
      installed = false;
    }
    assumeTrue(installed, "no gpg on the path");
    assertEquals(
        0, gpg("--passphrase", "", "--quick-gen-key", "A <a@quipu.invalid>", "ed25519", "sign"));
    assertEquals(0, gpg("--armor", "--output", key().toString(), "--export"));
  }

  @AfterAll
  static void stopAgent() throws Exception {
    if (Files.exists(key())) {
      run("gpgconf", "--homedir", home.toString(), "--kill", "all");
    }
  }

  private static Path key() {
    return home.resolve("key.asc");
  }

  private static int gpg(String... arguments) throws Exception {
    String[] command = new String[arguments.length + 5];
    List<String> prefix = List.of("gpg", "--homedir", home.toString(), "--batch", "--yes");
    for (int i = 0; i < command.length; i++) {
      command[i] = i < prefix.size() ? prefix.get(i) : arguments[i - prefix.size()];
    }
    return run(command);
  }

  private static int run(String... command) throws Exception {
    return new ProcessBuilder(command)
        .redirectErrorStream(true)
        .redirectOutput(ProcessBuilder.Redirect.DISCARD)
        .start()
        .waitFor();
  }

  @Test
  void aCompleteRepositoryIsAccepted() throws Exception {
    write(POM, true);
    assertEquals(List.of(), check());
  }

  @ParameterizedTest
  @CsvSource({
    "<scm>.*</scm>, '', without scm/url",
    "<developers>.*</developers>, '', without developers",
    "<licenses>.*</licenses>, '', without licenses",
    "<description>.*</description>, '', without description",
    "<version>2.0</version>, '', dependency without version: d",
    "<version>2.0</version>, <version>2.0-SNAPSHOT</version>, contains SNAPSHOT",
    "<version>2.0</version>, '<version>${d.version}</version>', unresolved property",
    "<name>A</name>, <name>A</name><repositories/>, with repositories",
    "</project>, '', malformed",
  })
  void aDefectOfThePomIsFound(String from, String to, String violation) throws Exception {
    String pom = POM.replaceAll("(?s)" + from, Matcher.quoteReplacement(to));
    write(pom, true);
    assertFound(violation);
  }

  @ParameterizedTest
  @CsvSource({
    "quipu-a-1.0.0.jar, .jar: missing",
    "quipu-a-1.0.0.pom, .pom: missing",
    "quipu-a-1.0.0.jar.asc, .jar: not signed",
    "quipu-a-1.0.0.pom.sha1, .pom.sha1: missing",
    "quipu-a-1.0.0.jar.md5, .jar.md5: missing",
    "quipu-a-1.0.0-sources.jar, -sources.jar: missing",
    "quipu-a-1.0.0-javadoc.jar, -javadoc.jar: missing",
    "quipu-a-1.0.0-cyclonedx.json, -cyclonedx.json: missing",
  })
  void aMissingFileIsFound(String file, String violation) throws Exception {
    write(POM, true);
    Files.delete(directory().resolve(file));
    assertFound(violation);
  }

  @Test
  void aChangedFileIsFound() throws Exception {
    write(POM, true);
    Path pom = directory().resolve("quipu-a-1.0.0.pom");
    Files.writeString(pom, POM + "\n");
    assertFound("pom.sha1: not the checksum");
    assertFound("pom.md5: not the checksum");
    assertFound("pom: its signature is not valid");
  }

  @Test
  void aMissingNoticeIsFound() throws Exception {
    write(POM, false);
    assertFound("without META-INF/NOTICE");
  }

  @ParameterizedTest
  @CsvSource({"'{\"components\":[]}'", "'{\"components\":[{}'", "'{}'", "''"})
  void aMalformedBillOfMaterialsIsFound(String json) throws Exception {
    write(POM, true);
    put("quipu-a-1.0.0-cyclonedx.json", json.getBytes(StandardCharsets.UTF_8));
    assertFound("not a JSON object with components");
  }

  @Test
  void anUnexpectedModuleIsFound() throws Exception {
    write(POM, true);
    Files.createDirectories(repository.resolve("dev/quipu/quipu-tests"));
    assertFound("quipu-tests: not published");
  }

  private List<String> check() throws Exception {
    return CentralRules.check(repository, key(), "1.0.0", List.of("quipu-a"));
  }

  private void assertFound(String violation) throws Exception {
    List<String> violations = check();
    assertTrue(
        violations.stream().anyMatch(each -> each.contains(violation)),
        violation + " is not in " + violations);
  }

  private Path directory() {
    return repository.resolve("dev/quipu/quipu-a/1.0.0");
  }

  private void write(String pom, boolean notice) throws Exception {
    Files.createDirectories(directory());
    put("quipu-a-1.0.0.pom", pom.getBytes(StandardCharsets.UTF_8));
    put(
        "quipu-a-1.0.0-cyclonedx.json",
        "{ \"x\" : -1.5, \"components\" : [ { \"n\" : \"\\\"\" } ] }"
            .getBytes(StandardCharsets.UTF_8));
    for (String suffix : List.of("", "-sources", "-javadoc")) {
      Path jar = directory().resolve("quipu-a-1.0.0" + suffix + ".jar");
      try (OutputStream out = Files.newOutputStream(jar);
          ZipOutputStream zip = new ZipOutputStream(out)) {
        for (String each : notice ? List.of("LICENSE", "NOTICE") : List.of("LICENSE")) {
          zip.putNextEntry(new ZipEntry("META-INF/" + each));
          zip.write('A');
        }
      }
      put(jar.getFileName().toString(), Files.readAllBytes(jar));
    }
  }

  private void put(String name, byte[] content) throws Exception {
    Path file = directory().resolve(name);
    Files.write(file, content);
    Files.writeString(file.resolveSibling(name + ".md5"), CentralRules.digest("MD5", content));
    Files.writeString(file.resolveSibling(name + ".sha1"), CentralRules.digest("SHA-1", content));
    assertEquals(0, gpg("--armor", "--detach-sign", file.toString()));
  }
}
