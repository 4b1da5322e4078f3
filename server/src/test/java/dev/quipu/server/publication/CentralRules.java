package dev.quipu.server.publication;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.xpath.XPath;
import javax.xml.xpath.XPathConstants;
import javax.xml.xpath.XPathExpressionException;
import javax.xml.xpath.XPathFactory;
import org.w3c.dom.Document;
import org.w3c.dom.NodeList;
import org.xml.sax.SAXException;

/**
 * Checks that a Maven repository obeys the rules of Maven Central: {@code ./dev publish --dry-run}
 * runs this source file.
 *
 * <p>Arguments: the repository, the public key of its signatures, the version, the root of the
 * sources, then the directories of the modules that must be there; without any, all modules that
 * the reactor publishes.
 */
final class CentralRules {
  private static final Map<String, String> DIGESTS =
      Map.of("md5", "MD5", "sha1", "SHA-1", "sha256", "SHA-256", "sha512", "SHA-512");
  private static final List<String> REQUIRED_DIGESTS = List.of("md5", "sha1");
  private static final List<String> REQUIRED_ELEMENTS =
      List.of(
          "name",
          "description",
          "url",
          "licenses/license/name",
          "licenses/license/url",
          "developers/developer/name",
          "scm/url",
          "scm/connection");
  private static final Pattern MODULE = Pattern.compile("<module>(.*?)</module>");
  private static final Pattern ARTIFACT =
      Pattern.compile("(?s)</parent>.*?<artifactId>(.*?)</artifactId>");

  private final Path group;
  private final Path key;
  private final String version;
  private final XPath xpath = XPathFactory.newInstance().newXPath();
  private final List<String> violations = new ArrayList<>();

  private CentralRules(Path repository, Path key, String version) {
    this.group = repository.resolve("dev/quipu");
    this.key = key;
    this.version = version;
  }

  /** Prints what violates the rules, and exits with 1 if anything does. */
  public static void main(String[] args) throws IOException, InterruptedException {
    Path root = Path.of(args[3]);
    List<String> modules = List.of(args).subList(4, args.length);
    List<String> artifacts = artifacts(root, published(root));
    if (!modules.isEmpty()) {
      List<String> required = artifacts(root, modules);
      artifacts.removeIf(
          each -> !required.contains(each) && !Files.exists(Path.of(args[0], "dev/quipu", each)));
    }
    List<String> violations = check(Path.of(args[0]), Path.of(args[1]), args[2], artifacts);
    violations.forEach(each -> System.err.println("publish: " + each));
    if (!violations.isEmpty()) {
      System.exit(1);
    }
    System.out.println("publish: " + artifacts.size() + " modules obey the rules of Maven Central");
  }

  /** Returns the directories of the modules that are published. */
  static List<String> published(Path root) throws IOException {
    List<String> modules = new ArrayList<>();
    String reactor = Files.readString(root.resolve("pom.xml")).replaceAll("(?s)<profiles>.*", "");
    Matcher module = MODULE.matcher(reactor);
    while (module.find()) {
      String pom = Files.readString(root.resolve(module.group(1)).resolve("pom.xml"));
      if (!pom.contains("<maven.deploy.skip>true<")) {
        modules.add(module.group(1));
      }
    }
    return modules;
  }

  private static List<String> artifacts(Path root, List<String> modules) throws IOException {
    List<String> artifacts = new ArrayList<>();
    for (String module : modules) {
      Matcher artifact =
          ARTIFACT.matcher(Files.readString(root.resolve(module).resolve("pom.xml")));
      if (!artifact.find()) {
        throw new IllegalArgumentException(module + ": the pom has no parent or no artifactId");
      }
      artifacts.add(artifact.group(1));
    }
    return artifacts;
  }

  /** Returns what violates the rules; nothing but these artifacts may be in the repository. */
  static List<String> check(Path repository, Path key, String version, List<String> artifacts)
      throws IOException, InterruptedException {
    CentralRules rules = new CentralRules(repository, key, version);
    try (Stream<Path> found = Files.list(rules.group)) {
      found
          .map(each -> each.getFileName().toString())
          .filter(each -> !artifacts.contains(each))
          .forEach(each -> rules.violations.add(each + ": not published, or not in the reactor"));
    }
    for (String artifact : artifacts) {
      rules.checkFiles(artifact);
    }
    Path home = Files.createTempDirectory("gpg");
    try {
      rules.checkSignatures(home, artifacts);
    } finally {
      try (Stream<Path> files = Files.walk(home)) {
        files.sorted(Comparator.reverseOrder()).forEach(each -> each.toFile().delete());
      }
    }
    return rules.violations;
  }

  private void expect(boolean holds, String violation) {
    if (!holds) {
      violations.add(violation);
    }
  }

  private Path directory(String artifact) {
    return group.resolve(artifact).resolve(version);
  }

  /** The names of the files that are neither checksums nor signatures. */
  private List<String> contents(String artifact) throws IOException {
    if (!Files.isDirectory(directory(artifact))) {
      return List.of();
    }
    try (Stream<Path> files = Files.list(directory(artifact))) {
      return files
          .map(each -> each.getFileName().toString())
          .filter(each -> !each.matches(".*\\.(asc|md5|sha1|sha256|sha512)"))
          .sorted()
          .toList();
    }
  }

  private void checkFiles(String artifact) throws IOException {
    List<String> names = contents(artifact);
    String base = artifact + "-" + version;
    if (!names.contains(base + ".pom")) {
      violations.add(base + ".pom: missing");
      return;
    }
    boolean jar = checkPom(directory(artifact).resolve(base + ".pom")).equals("jar");
    if (jar) {
      for (String suffix : List.of(".jar", "-sources.jar", "-javadoc.jar", "-cyclonedx.json")) {
        expect(names.contains(base + suffix), base + suffix + ": missing");
      }
    }
    for (String name : names) {
      Path file = directory(artifact).resolve(name);
      expect(name.startsWith(base) && !name.contains("SNAPSHOT"), name + ": unexpected name");
      checkDigests(file, true);
      Path signature = directory(artifact).resolve(name + ".asc");
      expect(Files.exists(signature), name + ": not signed");
      if (Files.exists(signature)) {
        checkDigests(signature, false);
      }
      if (name.endsWith(".jar")) {
        checkJar(file, name.equals(base + ".jar"));
      }
      if (jar && name.endsWith("cyclonedx.json")) {
        Object bom = Json.parse(Files.readString(file));
        expect(
            bom instanceof Map<?, ?> map
                && map.get("components") instanceof List<?> components
                && !components.isEmpty(),
            name + ": not a JSON object with components");
      }
    }
  }

  /** Returns the packaging. */
  private String checkPom(Path file) throws IOException {
    String name = file.getFileName().toString();
    String text = Files.readString(file);
    expect(!text.contains("SNAPSHOT"), name + ": contains SNAPSHOT");
    expect(!text.contains("${"), name + ": contains an unresolved property");
    try {
      Document pom = DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(file.toFile());
      for (String element : REQUIRED_ELEMENTS) {
        expect(!value(pom, "/project/" + element).isEmpty(), name + ": without " + element);
      }
      for (String element : List.of("repositories", "pluginRepositories", "parent")) {
        expect(nodes(pom, "/project/" + element).getLength() == 0, name + ": with " + element);
      }
      expect(value(pom, "/project/version").equals(version), name + ": of another version");
      NodeList unresolved = nodes(pom, "//dependency[not(version) or version='']/artifactId");
      for (int i = 0; i < unresolved.getLength(); i++) {
        String dependency = unresolved.item(i).getTextContent();
        violations.add(name + ": dependency without version: " + dependency);
      }
      String packaging = value(pom, "/project/packaging");
      return packaging.isEmpty() ? "jar" : packaging;
    } catch (SAXException
        | javax.xml.parsers.ParserConfigurationException
        | XPathExpressionException e) {
      violations.add(name + ": malformed: " + e.getMessage());
      return "";
    }
  }

  private String value(Document pom, String path) throws XPathExpressionException {
    return xpath.evaluate(path, pom).strip();
  }

  private NodeList nodes(Document pom, String path) throws XPathExpressionException {
    return (NodeList) xpath.evaluate(path, pom, XPathConstants.NODESET);
  }

  private void checkDigests(Path file, boolean required) throws IOException {
    for (Map.Entry<String, String> each : DIGESTS.entrySet()) {
      Path digest = file.resolveSibling(file.getFileName() + "." + each.getKey());
      if (Files.exists(digest)) {
        String actual = digest(each.getValue(), Files.readAllBytes(file));
        expect(
            Files.readString(digest).strip().equals(actual),
            digest.getFileName() + ": not the checksum of the file");
      } else if (required && REQUIRED_DIGESTS.contains(each.getKey())) {
        violations.add(digest.getFileName() + ": missing");
      }
    }
  }

  static String digest(String algorithm, byte[] bytes) {
    try {
      return HexFormat.of().formatHex(MessageDigest.getInstance(algorithm).digest(bytes));
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(e);
    }
  }

  private void checkJar(Path file, boolean main) throws IOException {
    String name = file.getFileName().toString();
    try (ZipFile jar = new ZipFile(file.toFile())) {
      expect(jar.size() > 0, name + ": empty");
      if (main) {
        expect(jar.getEntry("META-INF/LICENSE") != null, name + ": without META-INF/LICENSE");
        String notice = text(jar, "META-INF/NOTICE");
        expect(!notice.isEmpty(), name + ": without META-INF/NOTICE");
        checkNotice(jar, name, notice);
      }
    }
  }

  private static String text(ZipFile jar, String name) throws IOException {
    ZipEntry entry = jar.getEntry(name);
    if (entry == null) {
      return "";
    }
    try (InputStream in = jar.getInputStream(entry)) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  /** A shaded jar has the notices of all jars in it, which are those of the local repository. */
  private void checkNotice(ZipFile jar, String name, String notice) throws IOException {
    Path local = Path.of(System.getProperty("user.home"), ".m2/repository");
    String words = notice.replaceAll("\\s+", " ");
    for (ZipEntry entry : jar.stream().toList()) {
      if (entry.getName().matches("META-INF/maven/.*/pom\\.properties")) {
        Properties origin = new Properties();
        try (InputStream in = jar.getInputStream(entry)) {
          origin.load(in);
        }
        String artifact = origin.getProperty("artifactId");
        String origins = origin.getProperty("version");
        Path library =
            local.resolve(
                "%s/%s/%s/%s-%s.jar"
                    .formatted(
                        origin.getProperty("groupId").replace('.', '/'),
                        artifact,
                        origins,
                        artifact,
                        origins));
        if (Files.exists(library)) {
          checkContained(library, words, name);
        }
      }
    }
  }

  private void checkContained(Path library, String words, String name) throws IOException {
    try (ZipFile jar = new ZipFile(library.toFile())) {
      for (String each : List.of("META-INF/NOTICE", "META-INF/NOTICE.txt", "META-INF/NOTICE.md")) {
        for (String paragraph : new TreeSet<>(text(jar, each).lines().toList())) {
          String line = paragraph.strip().replaceAll("\\s+", " ");
          expect(
              words.contains(line),
              name + ": its NOTICE lacks '" + line + "' of " + library.getFileName());
        }
      }
    }
  }

  private void checkSignatures(Path home, List<String> artifacts)
      throws IOException, InterruptedException {
    expect(gpg(home, "--import", key.toString()), key + ": not a public key");
    for (String artifact : artifacts) {
      for (String name : contents(artifact)) {
        Path file = directory(artifact).resolve(name);
        if (Files.exists(file.resolveSibling(name + ".asc"))) {
          expect(
              gpg(home, "--verify", file + ".asc", file.toString()),
              name + ": its signature is not valid");
        }
      }
    }
    new ProcessBuilder("gpgconf", "--homedir", home.toString(), "--kill", "all").start().waitFor();
  }

  private static boolean gpg(Path home, String... arguments)
      throws IOException, InterruptedException {
    List<String> command =
        new ArrayList<>(List.of("gpg", "--homedir", home.toString(), "--batch", "--quiet"));
    command.addAll(List.of(arguments));
    Process gpg =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .start();
    return gpg.waitFor() == 0;
  }

  /** A minimal parser of JSON: this source file runs without libraries. */
  private static final class Json {
    private static final Pattern TOKEN =
        Pattern.compile(
            "\\s*([\\[\\]{},:]|\"(?:[^\"\\\\]|\\\\.)*+\"|[-+.\\w]+)\\s*", Pattern.DOTALL);
    private final Matcher tokens;
    private String token = "";

    private Json(String text) {
      tokens = TOKEN.matcher(text);
      next();
    }

    /** Returns maps, lists and strings, or an empty string if the text is malformed. */
    static Object parse(String text) {
      try {
        return new Json(text).value();
      } catch (IllegalStateException malformed) {
        return "";
      }
    }

    private String next() {
      String last = token;
      token = tokens.lookingAt() ? tokens.group(1) : "";
      if (!token.isEmpty()) {
        tokens.region(tokens.end(), tokens.regionEnd());
      }
      return last;
    }

    private void require(String expected) {
      if (!next().equals(expected)) {
        throw new IllegalStateException("expected " + expected);
      }
    }

    private Object value() {
      String first = next();
      return switch (first) {
        case "{" -> {
          Map<String, Object> members = new HashMap<>();
          while (!token.equals("}")) {
            String name = next();
            require(":");
            members.put(name.replace("\"", ""), value());
            if (!token.equals("}")) {
              require(",");
            }
          }
          next();
          yield members;
        }
        case "[" -> {
          List<Object> items = new ArrayList<>();
          while (!token.equals("]")) {
            items.add(value());
            if (!token.equals("]")) {
              require(",");
            }
          }
          next();
          yield items;
        }
        case "", "}", "]", ",", ":" -> throw new IllegalStateException("no value");
        default -> first;
      };
    }
  }
}
