package dev.quipu.server.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.engine.Durability;
import dev.quipu.engine.Engine;
import dev.quipu.engine.EngineOptions;
import dev.quipu.server.protocol.CommandPort;
import dev.quipu.server.protocol.PortOptions;
import dev.quipu.server.resp.RawClient;
import dev.quipu.server.resp.RespServer;
import dev.quipu.simulation.time.ManualClock;
import dev.quipu.time.Clock;
import io.netty.channel.embedded.EmbeddedChannel;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Idle connections cannot lock out other clients. */
final class ConnectionsTest {
  private static final String PONG = "+PONG\r\n";

  @TempDir Path directory;

  private void opensMany(PortOptions options, int many) throws IOException {
    List<RawClient> idle = new ArrayList<>();
    EngineOptions none = EngineOptions.defaults().withDurability(Durability.NONE);
    try (Engine engine = Engine.open(directory, none);
        CommandPort server = RespServer.start(options, engine, "test", Clock.system());
        RawClient steady = new RawClient(server.address().getPort())) {
      for (int i = 0; i < many; i++) {
        assertEquals(PONG, steady.ask("PING"), "after " + i);
        try (RawClient newcomer = new RawClient(server.address().getPort())) {
          assertEquals(PONG, newcomer.ask("PING"), "newcomer after " + i);
        }
        idle.add(new RawClient(server.address().getPort()));
      }
      for (RawClient each : idle) {
        each.close();
      }
    }
  }

  @Test
  void idleConnectionsAreReplacedWithinTheMemoryLimit() throws IOException {
    MemoryBudget budget = new MemoryBudget(1 << 20); // for 64 of them
    opensMany(PortOptions.at(0).withMemory(budget), 300);
    assertTrue(budget.connections().usedBytes() <= 512 << 10);
  }

  @Test
  void idleConnectionsAreReplacedWithinThePortLimit() throws IOException {
    opensMany(PortOptions.at(0).withConnectionsMax(20), 200);
  }

  private static EmbeddedChannel channel() {
    return new EmbeddedChannel();
  }

  @Test
  void aBusyConnectionStays() {
    Connections connections = new Connections(10, 1_000, Clock.system());
    EmbeddedChannel busy = channel();
    connections.enter("port", busy, 10, false).orElseThrow().idleWhen(() -> false);
    EmbeddedChannel other = channel();
    assertTrue(connections.enter("port", other, 0, false).isPresent());
    assertTrue(connections.enter("port", channel(), 10, false).isPresent());
    busy.runPendingTasks();
    assertTrue(busy.isActive());
    assertEquals(20, connections.usedBytes(), "it is counted again");
  }

  @Test
  void aConnectionThatClosesBeforeItsIdleCheckIsReleasedOnce() {
    Connections connections = new Connections(10, 1_000, Clock.system());
    EmbeddedChannel busy = channel();
    connections.enter("port", busy, 10, false).orElseThrow().idleWhen(() -> false);
    assertTrue(connections.enter("port", channel(), 0, false).isPresent());
    assertTrue(connections.enter("port", channel(), 10, false).isPresent());
    busy.pipeline().close();
    busy.runPendingTasks();
    assertFalse(busy.isActive());
    assertEquals(10, connections.usedBytes());
  }

  @Test
  void openConnectionsStayWithinTheSystemLimit() {
    Connections connections = new Connections(1_000, 3, Clock.system());
    List<EmbeddedChannel> channels = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      channels.add(channel());
      assertTrue(connections.enter("port", channels.getLast(), 1, false).isPresent(), "after " + i);
      channels.forEach(EmbeddedChannel::runPendingTasks);
      assertTrue(channels.stream().filter(EmbeddedChannel::isActive).count() <= 3);
    }
    assertEquals(3, connections.usedBytes());
    assertTrue(Connections.countMaxOfSystem() > 0);
  }

  @Test
  void theLongestIdleConnectionIsClosed() {
    Connections connections = new Connections(30, 1_000, Clock.system());
    EmbeddedChannel used = channel();
    Connections.Place place = connections.enter("port", used, 10, false).orElseThrow();
    EmbeddedChannel idle = channel();
    assertTrue(connections.enter("port", idle, 10, false).isPresent());
    EmbeddedChannel another = channel();
    assertTrue(connections.enter("another", another, 10, false).isPresent());
    place.use();
    assertTrue(connections.enter("port", channel(), 10, false).isPresent());
    for (EmbeddedChannel each : List.of(used, idle, another)) {
      each.runPendingTasks();
    }
    assertTrue(used.isActive() && another.isActive() && !idle.isActive());
    assertEquals(30, connections.usedBytes());
  }

  @Test
  void anActiveConnectionIsReplacedOnceIdle() {
    ManualClock clock = new ManualClock(0);
    Connections connections = new Connections(10, 1_000, clock);
    assertTrue(connections.enter("port", channel(), 11, false).isEmpty(), "it would never fit");
    EmbeddedChannel first = channel();
    Connections.Place place = connections.enter("port", first, 10, false).orElseThrow();
    for (int i = 0; i < 10; i++) {
      clock.advance(Duration.ofMillis(4_900));
      place.use();
      assertTrue(connections.enter("port", channel(), 10, false).isEmpty(), "it is still active");
    }
    clock.advance(Duration.ofMillis(5_001));
    assertTrue(connections.enter("port", channel(), 10, false).isPresent());
    first.runPendingTasks();
    assertTrue(!first.isActive());
  }

  @Test
  void newConnectionsWaitWhileManyAreBeingClosed() {
    Connections connections = new Connections(100, 1_000, Clock.system());
    EmbeddedChannel listener = channel();
    connections.accepts(listener);
    List<EmbeddedChannel> idle = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      idle.add(channel());
      assertTrue(connections.enter("port", idle.getLast(), 1, false).isPresent());
    }
    for (int i = 0; i < 64; i++) {
      listener.runPendingTasks();
      assertTrue(listener.config().isAutoRead(), "after " + i);
      assertTrue(connections.enter("port", channel(), 1, false).isPresent());
    }
    listener.runPendingTasks();
    assertFalse(listener.config().isAutoRead());
    idle.forEach(EmbeddedChannel::runPendingTasks);
    listener.runPendingTasks();
    assertTrue(listener.config().isAutoRead());
  }
}
