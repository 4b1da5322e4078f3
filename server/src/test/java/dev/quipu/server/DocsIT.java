package dev.quipu.server;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.quipu.testkit.pace.Progress;
import dev.quipu.testservers.MemcachedServer;
import dev.quipu.testservers.RedisServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/**
 * Every shell command of the README, the start page, the guides and a sample is run, in order, on
 * the real component, and prints what the page shows. CONTRIBUTING.md, "Executable documentation",
 * states the convention.
 */
final class DocsIT {
  private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();
  private static final int[] SERVER_PORTS = {7080, 7379, 7211, 8180};

  @TempDir Path temporary;

  @SuppressWarnings("NullAway.Init") // JUnit sets the directory
  DocsIT() {}

  private static List<DocPage> pages() throws IOException {
    List<Path> files =
        new ArrayList<>(
            Stream.of("README.md", "docs/start.md", "samples/ai-budget/README.md")
                .map(ROOT::resolve)
                .toList());
    try (Stream<Path> guides = Files.list(ROOT.resolve("docs/guides"))) {
      guides.filter(file -> file.toString().endsWith(".md")).sorted().forEach(files::add);
    }
    List<DocPage> pages = new ArrayList<>();
    for (Path file : files) {
      pages.add(DocPage.read(ROOT, file));
    }
    return pages;
  }

  @TestFactory
  Stream<DynamicTest> commandsPrintWhatThePageShows() throws IOException {
    return pages().stream()
        .filter(page -> !page.commands().isEmpty())
        .map(page -> DynamicTest.dynamicTest(page.name(), () -> run(page)));
  }

  /** Lists what is not run; a page whose blocks are all left out must say so for each. */
  @Test
  void blocksThatAreNotRunGiveAReason() throws IOException {
    List<String> notRun = pages().stream().flatMap(page -> page.notRun().stream()).toList();
    int commands = pages().stream().mapToInt(page -> page.commands().size()).sum();
    assertFalse(commands < notRun.size(), "more is left out than is run");
    System.out.printf(
        "DocsIT: %d commands are run; %d blocks are not:%n%s%n",
        commands, notRun.size(), String.join("\n", notRun));
  }

  private void run(DocPage page) throws Exception {
    for (int port : SERVER_PORTS) {
      requireFree(port);
    }
    List<AutoCloseable> stores = new ArrayList<>();
    Path directory = Files.createTempDirectory(temporary, "page");
    try (DocShell shell = new DocShell(ROOT, directory)) {
      for (String need : page.needs()) {
        String[] parts = need.split(" ", -1);
        stores.add(start(parts[0], Integer.parseInt(parts[1])));
      }
      for (DocPage.Command command : page.commands()) {
        shell.run(page.name(), command);
      }
    } finally {
      for (AutoCloseable store : stores) {
        store.close();
      }
    }
  }

  private static AutoCloseable start(String store, int port) throws Exception {
    requireFree(port);
    return switch (store) {
      case "memcached" -> {
        Optional<MemcachedServer> server = MemcachedServer.startAt(port);
        assumeTrue(server.isPresent(), "no memcached here: ./dev deps installs it");
        yield server.orElseThrow();
      }
      case "redis" -> RedisServer.startDurableAt(port);
      default -> throw new IllegalArgumentException("no test server for " + store);
    };
  }

  /**
   * A page names fixed ports. A server of the page before may still be stopping; where another
   * process has the port, the page is skipped by name, but not in CI.
   */
  private static void requireFree(int port) throws Exception {
    if (!isFree(port) && !"true".equals(System.getenv("CI"))) {
      assumeTrue(false, "port " + port + " is in use");
    }
    Progress.await("port " + port + " is free", () -> isFree(port));
  }

  private static boolean isFree(int port) {
    try (ServerSocket socket = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort() == port;
    } catch (IOException e) {
      return false;
    }
  }
}
