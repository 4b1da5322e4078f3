package dev.quipu.server.memcache;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.quipu.Reading;
import dev.quipu.engine.Engine;
import dev.quipu.engine.EngineOptions;
import dev.quipu.server.ToolProcess;
import dev.quipu.server.protocol.CommandPort;
import dev.quipu.server.protocol.PortOptions;
import dev.quipu.server.resp.RawClient;
import dev.quipu.simulation.proxy.FaultPlan;
import dev.quipu.simulation.proxy.FaultProxy;
import dev.quipu.simulation.proxy.MemcachedProtocol;
import dev.quipu.simulation.proxy.WireFault;
import dev.quipu.testkit.pace.Progress;
import dev.quipu.testservers.Tool;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import net.rubyeye.xmemcached.MemcachedClient;
import net.rubyeye.xmemcached.XMemcachedClientBuilder;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Unmodified memcached clients. */
final class MemcachedClientsTest {
  private static final int ADDS = 2_000;

  @TempDir Path directory;

  private Engine engine;
  private CommandPort server;

  @BeforeEach
  void start() throws IOException {
    engine = Engine.open(directory, EngineOptions.defaults());
    server = LikeMemcachedTest.serve(engine, PortOptions.at(0).withFlush(true), List.of());
  }

  @AfterEach
  void stop() {
    server.close();
    engine.close();
  }

  /** Runs all conformance tests of libmemcached for the text protocol. */
  @Test
  void memccapablePasses() throws IOException, InterruptedException {
    Optional<String> found = Tool.find("memccapable");
    assumeTrue(found.isPresent(), "no memccapable on this machine: ./dev deps installs it");
    String port = Integer.toString(server.address().getPort());
    List<String> command = List.of(found.orElseThrow(), "-h", "127.0.0.1", "-p", port, "-a");
    try (ToolProcess tool = ToolProcess.start(directory, command)) {
      List<String> said = tool.await(0);
      assertEquals(
          27, said.stream().filter(line -> line.endsWith("[pass]")).count(), said::toString);
      assertTrue(said.contains("All tests passed"), said::toString);
    }
  }

  @Test
  void xmemcachedCounts() throws Exception {
    int port = server.address().getPort();
    MemcachedClient client =
        new XMemcachedClientBuilder(
                List.of(new InetSocketAddress(InetAddress.getLoopbackAddress(), port)))
            .build();
    try {
      assertEquals(1, client.incr("a", 5, 1), "incr with an initial value");
      assertEquals(6, client.incr("a", 5, 1));
      assertEquals(0, client.decr("a", 100));
      assertTrue(client.set("text", 0, "hello"));
      assertEquals("hello", client.get("text"));
      long unique = client.gets("text").getCas();
      assertTrue(client.cas("text", 0, "you", unique));
      assertTrue(client.add("n", 0, "41"));
      assertEquals(42, client.incr("n", 1));
      assertTrue(client.touch("n", 100));
      assertTrue(client.delete("n"));
      assertEquals(Optional.of(Reading.exact(0)), engine.read("a"));
      server.close();
      server = LikeMemcachedTest.serve(engine, PortOptions.at(port), List.of());
      assertEquals(3, againIncr(client));
    } finally {
      client.shutdown();
    }
  }

  /** The client reconnects by itself. */
  private static long againIncr(MemcachedClient client) throws Exception {
    AtomicLong value = new AtomicLong();
    Progress.await(
        "a connection",
        () -> {
          try {
            value.set(client.incr("a", 3));
            return true;
          } catch (Exception notYetConnected) {
            return false;
          }
        });
    return value.get();
  }

  /**
   * One reply in twenty is lost, and the client reconnects and repeats: counted once. No packaged
   * client supports opaque tokens on ma, so this sends plain lines.
   */
  @Test
  void repeatsUnderAnOpaqueTokenCountOnce() throws IOException {
    repeats("ma a N0 J1 v Oid-%d", true);
    assertEquals(Optional.of(Reading.exact(ADDS)), engine.read("a"));
  }

  /** Without a token repeats count twice, which shows that the fault fires. */
  @Test
  void repeatsWithoutATokenCountTwice() throws IOException {
    long repeats = repeats("ma b N0 J1 v k", false);
    assertEquals(Optional.of(Reading.exact(ADDS + repeats)), engine.read("b"));
  }

  private long repeats(String command, boolean isFirstAnswer) throws IOException {
    int port = server.address().getPort();
    long repeats = 0;
    try (FaultProxy proxy =
        FaultProxy.start(new MemcachedProtocol(), port, Duration.ofSeconds(5), write -> 1)) {
      proxy.use(FaultPlan.atRandom(1, 0.05, WireFault.REPLY_DROPPED, write -> true));
      RawClient client = new RawClient(proxy.port());
      for (int i = 0; i < ADDS; i++) {
        String head = "";
        while (head.isEmpty()) {
          head = client.askLine(command.formatted(i));
          if (head.isEmpty()) { // connection lost: outcome unknown
            repeats++;
            client.close();
            client = new RawClient(proxy.port());
          }
        }
        assertTrue(head.startsWith("VA "), head);
        String value = client.readUntil("\r\n").strip();
        assertTrue(!isFirstAnswer || value.equals(Integer.toString(i + 1)), value);
      }
      client.close();
      assertTrue(repeats > ADDS / 50, "only " + repeats + " were repeated, so this run is void");
      assertEquals(repeats, proxy.ledger().fired(WireFault.REPLY_DROPPED));
    }
    return repeats;
  }
}
