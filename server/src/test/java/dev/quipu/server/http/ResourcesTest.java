package dev.quipu.server.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Quipu;
import dev.quipu.backend.Backends;
import dev.quipu.memory.MemoryDriver;
import dev.quipu.server.http.route.Services;
import dev.quipu.time.Clock;
import io.netty.util.internal.PlatformDependent;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Bounds the memory that clients can make the server hold, without a token and without reading. */
@SuppressWarnings("NullAway.Init") // JUnit calls start before each test
final class ResourcesTest {
  private static final int GREEDY_CLIENTS = 150;
  private static final long DIRECT_BYTES_MAX = 16 << 20;

  private Quipu quipu;
  private HttpServer server;
  private Client client;

  @BeforeEach
  void start() throws Exception {
    quipu = Backends.on(new MemoryDriver());
    HttpOptions options = HttpOptions.defaults().at("127.0.0.1", 0, Optional.empty(), false);
    server = HttpServer.start(options, Services.of(quipu, "memory:"), Clock.system());
    client = new Client(server.address());
  }

  @AfterEach
  void stop() {
    server.close();
    quipu.close();
  }

  @Test
  void unknownMethodsShareOneMetric() throws Exception {
    for (int i = 0; i < 50; i++) {
      assertTrue(
          client.raw("METHOD" + i + " /x HTTP/1.1\r\nHost: localhost\r\n\r\n").contains("404"));
    }
    String metrics = client.get("/metrics").body();
    assertFalse(metrics.contains("METHOD"), metrics);
    assertTrue(metrics.contains("method=\"other\",route=\"none\",status=\"404\""), metrics);
  }

  @Test
  void clientsThatDoNotReadHoldLittle() throws Exception {
    List<SocketChannel> greedy = new ArrayList<>();
    try {
      long before = directBytes(); // other tests may have left buffers in the pool
      long most = 0;
      for (int i = 0; i < GREEDY_CLIENTS; i++) {
        greedy.add(ask(server.address(), "GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n"));
        most = Math.max(most, directBytes() - before);
        assertEquals("ok\n", client.get("/readyz").body());
      }
      assertTrue(most < DIRECT_BYTES_MAX, most + " bytes of direct memory");
    } finally {
      for (SocketChannel each : greedy) {
        each.close();
      }
    }
  }

  private static long directBytes() {
    return PlatformDependent.usedDirectMemory();
  }

  /** Sends a request repeatedly without reading, until the server accepts no more bytes. */
  private static SocketChannel ask(InetSocketAddress address, String request)
      throws IOException, InterruptedException {
    SocketChannel channel = SocketChannel.open(address);
    channel.configureBlocking(false);
    ByteBuffer all = ByteBuffer.wrap(request.repeat(1_000).getBytes(StandardCharsets.US_ASCII));
    int stalls = 0;
    for (long sent = 0; stalls < 20 && sent < 4 << 20; ) {
      int count = channel.write(all);
      sent += count;
      stalls = count == 0 ? stalls + 1 : 0;
      if (count == 0) {
        Thread.sleep(5);
      }
      if (!all.hasRemaining()) {
        all.rewind();
      }
    }
    return channel;
  }
}
