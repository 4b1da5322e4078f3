package dev.quipu.server.protocol;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Add;
import dev.quipu.Reading;
import dev.quipu.engine.CounterAccess;
import dev.quipu.engine.Durability;
import dev.quipu.engine.Engine;
import dev.quipu.engine.EngineOptions;
import dev.quipu.server.memcache.MemcacheServer;
import dev.quipu.server.net.Connections;
import dev.quipu.server.net.MemoryBudget;
import dev.quipu.server.net.PortMeter;
import dev.quipu.server.resp.RawClient;
import dev.quipu.server.resp.RespServer;
import dev.quipu.testkit.pace.Progress;
import dev.quipu.time.Clock;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Memory that clients can make the ports hold, per connection and in total. */
final class MemoryTest {
  private static final int FIELDS = 20_000;
  private static final String OK = "+OK\r\n";

  @TempDir Path directory;

  private final List<AutoCloseable> closing = new ArrayList<>();
  private Engine engine;

  @BeforeEach
  void open() {
    engine = Engine.open(directory, EngineOptions.defaults().withDurability(Durability.NONE));
    closing.addFirst(engine);
    engine.add(new Add("steady", 1, null));
  }

  @AfterEach
  void close() throws Exception {
    for (AutoCloseable each : closing) {
      each.close();
    }
  }

  private RawClient client(int port) throws IOException {
    RawClient client = new RawClient(port);
    closing.addFirst(client);
    return client;
  }

  private int serve(MemoryBudget budget) throws IOException {
    CommandPort server =
        RespServer.start(PortOptions.at(0).withMemory(budget), engine, "test", Clock.system());
    closing.addFirst(server);
    return server.address().getPort();
  }

  private int serveMemcached(MemoryBudget budget) throws IOException {
    CommandPort server =
        MemcacheServer.start(
            PortOptions.at(0).withMemory(budget), engine, List.of(), "test", Clock.system());
    closing.addFirst(server);
    return server.address().getPort();
  }

  private static String command(String name, int arguments, int bytes) {
    StringBuilder all =
        new StringBuilder("*%d\r\n$%d\r\n%s\r\n".formatted(arguments + 1, name.length(), name));
    String argument = "$%d\r\n%s\r\n".formatted(bytes, "x".repeat(bytes));
    return all.append(argument.repeat(arguments)).toString();
  }

  private void awaitUnused(MemoryBudget budget) {
    while (budget.usedBytes() != 0) { // until the timeout of the test
      Thread.onSpinWait();
    }
  }

  @Test
  void aTransactionIsLimited() throws IOException {
    MemoryBudget budget = new MemoryBudget(64 << 20);
    RawClient client = client(serve(budget));
    assertEquals(OK, client.ask("MULTI"));
    for (int i = 0; i < 4; i++) {
      client.send(command("DEL", 15, 64_000));
      assertEquals("+QUEUED\r\n", client.answer());
    }
    assertTrue(budget.usedBytes() > 3_500_000);
    client.send(command("DEL", 15, 64_000));
    assertTrue(client.answer().startsWith("-ERR transaction is "));
    assertTrue(client.ask("EXEC").startsWith("-EXECABORT"));
    assertEquals(0, budget.usedBytes());
    assertEquals(OK, client.ask("MULTI"));
    client.send(command("DEL", 15, 64_000));
    assertEquals("+QUEUED\r\n", client.answer());
    client.close();
    awaitUnused(budget);
  }

  @Test
  void overTheBudgetLargeCommandsAreRejectedAndAddsContinue() throws IOException {
    MemoryBudget budget = new MemoryBudget(250_000);
    int port = serve(budget);
    RawClient client = client(port);
    RawClient steady = client(port);
    assertEquals(OK, client.ask("MULTI"));
    String answer = "+QUEUED\r\n";
    for (int i = 0; i < 3 && answer.startsWith("+"); i++) {
      client.send(command("DEL", 10, 9_000));
      answer = client.answer();
    }
    assertTrue(answer.startsWith("-OOM transaction needs more memory than is left"), answer);
    assertEquals(":2\r\n", steady.ask("INCR steady"));
    steady.send(command("DEL", 10, 9_000).substring(0, 85_000)); // the rest is not sent
    assertTrue(steady.readUntil("never").startsWith("-OOM command needs more memory"));
    assertTrue(client.ask("EXEC").startsWith("-EXECABORT"));
    assertEquals(Optional.of(Reading.exact(2)), engine.read("steady"));
    awaitUnused(budget);
  }

  /** WATCH is all or nothing; when rejected, it holds no memory. */
  @Test
  void aWatchRejectedByTheEngineHoldsNothing() throws IOException {
    engine.close();
    engine = Engine.open(directory, EngineOptions.defaults().withMemoryBytesMax(64 << 10));
    closing.addFirst(engine);
    MemoryBudget budget = new MemoryBudget(1 << 20);
    RawClient client = client(serve(budget));
    StringBuilder many = new StringBuilder("WATCH");
    for (int i = 0; i < 1_000; i++) {
      many.append(" a-longer-name-of-a-key-that-is-watched-").append(i);
    }
    assertTrue(client.ask(many.toString()).startsWith("-OOM"));
    assertTrue(budget.usedBytes() < 80_000, () -> budget.usedBytes() + " bytes"); // its window
    assertEquals(OK, client.ask("MULTI"));
    assertEquals("*0\r\n", client.ask("EXEC"));
  }

  @Test
  void watchedKeysAreLimited() throws IOException {
    MemoryBudget budget = new MemoryBudget(400_000);
    int port = serve(budget);
    RawClient client = client(port);
    RawClient other = client(port);
    for (int i = 0; i < 1_024; i++) {
      assertEquals(OK, client.ask("WATCH k%d k%d".formatted(i, i)));
    }
    assertTrue(budget.usedBytes() > 200_000);
    assertEquals(OK, client.ask("WATCH k1 k2"), "they are watched");
    assertTrue(client.ask("WATCH k1 new").startsWith("-ERR connection would watch 1025 keys"));
    StringBuilder many = new StringBuilder("WATCH");
    for (int i = 0; i < 1_000; i++) {
      many.append(" o").append(i);
    }
    assertTrue(other.ask(many.toString()).startsWith("-OOM WATCH needs more memory"));
    assertEquals(OK, client.ask("UNWATCH"));
    assertTrue(budget.usedBytes() < 20_000);
    assertEquals(OK, other.ask(many.toString()));
    other.close();
    awaitUnused(budget);
  }

  private void fill(RawClient client) throws IOException {
    StringBuilder all = new StringBuilder();
    for (int i = 0; i < FIELDS; i++) {
      all.append("HINCRBY big f%d 1\r\n".formatted(i));
    }
    Thread sender = Thread.ofVirtual().start(() -> sendAll(client, all.toString()));
    for (int i = 0; i < FIELDS; i++) {
      assertEquals(":1\r\n", client.answer());
    }
    sender.interrupt();
  }

  private static void sendAll(RawClient client, String bytes) {
    try {
      client.send(bytes);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** A pipeline of large unread replies pauses and continues when they are read. */
  @Test
  void unreadRepliesAreLimited() throws IOException {
    MemoryBudget budget = new MemoryBudget(16 << 20);
    int port = serve(budget);
    RawClient steady = client(port);
    fill(steady);
    List<RawClient> lazy = new ArrayList<>();
    int commands = 50;
    for (int i = 0; i < 4; i++) {
      lazy.add(client(port));
      lazy.getLast().send("HGETALL big\r\n".repeat(commands));
    }
    for (int i = 2; i < 200; i++) {
      assertEquals(":" + i + "\r\n", steady.ask("INCR steady"));
      assertTrue(budget.usedBytes() <= budget.limitBytes(), budget.usedBytes() + " bytes");
    }
    for (RawClient each : lazy) {
      for (int i = 0; i < commands; i++) {
        String reply = each.answer();
        assertTrue(reply.startsWith("*" + 2 * FIELDS + "\r\n"), reply);
      }
    }
    assertEquals(":200\r\n", steady.ask("INCR steady"));
  }

  @Test
  void theRepliesToATransactionAreLimited() throws IOException {
    MemoryBudget budget = new MemoryBudget(256 << 20);
    RawClient client = client(serve(budget));
    fill(client);
    client.send("MULTI\r\n" + "HGETALL big\r\n".repeat(1_000) + "INCR steady\r\nEXEC\r\n");
    assertEquals(OK, client.answer());
    for (int i = 0; i <= 1_000; i++) {
      assertEquals("+QUEUED\r\n", client.answer());
    }
    String replies = client.answer();
    assertTrue(replies.startsWith("*1001\r\n"));
    assertTrue(replies.length() < CommandPort.REPLY_BYTES_MAX + (1 << 20));
    assertTrue(replies.contains("-ERR reply is larger than 16777216 bytes"));
    assertEquals(Optional.of(Reading.exact(2)), engine.read("steady"));
    client.ask("PING");
    awaitUnused(budget);
  }

  @Test
  void getOfManyTextsIsLimited() throws IOException {
    RawClient client = client(serveMemcached(new MemoryBudget(100_000)));
    assertEquals("STORED\r\n", client.askLine("set t 0 0 4000\r\n" + "x".repeat(4_000)));
    client.send("get" + " t".repeat(1_000) + "\r\n");
    assertEquals("SERVER_ERROR out of memory writing get response\r\n", client.readUntil("\r\n"));
    assertEquals("2\r\n", client.askLine("incr steady 1"));
  }

  /** The last error of a connection arrives even if the client has sent more. */
  @Test
  void theLastErrorCanBeRead() throws IOException {
    RawClient client = client(serve(new MemoryBudget(64 << 20)));
    String bytes = command("DEL", 40_000, 20);
    Thread.ofVirtual()
        .start(() -> {
          try {
            client.send(bytes);
          } catch (IOException e) {
            // closed while this is sent
          }
        });
    assertTrue(client.readUntil("never").contains("command has 40001 arguments; the limit is"));
  }

  @Test
  void manyArgumentsAreAccepted() throws IOException {
    RawClient client = client(serve(new MemoryBudget(64 << 20)));
    client.send(command("EXISTS", 20_000, 6));
    assertEquals(":0\r\n", client.answer());
  }

  @Test
  void aBinaryClientIsDisconnectedImmediately() throws IOException {
    RawClient client = client(serveMemcached(new MemoryBudget(64 << 20)));
    client.send("\200\n" + "\0".repeat(22));
    assertEquals("", client.readUntil("never"));
    RawClient text = client(serveMemcached(new MemoryBudget(64 << 20)));
    assertEquals("MN\r\n", text.askLine("mn"));
  }

  /** A silent connection. */
  private static EmbeddedChannel silent(ConnectionMemory memory, Consumer<Throwable> stop) {
    Connections connections = new MemoryBudget(0).connections();
    return new EmbeddedChannel(
        new CommandConnection(
            new Silent(),
            new LoopCommits(Runnable::run, Runnable::run, operations -> {}, stop),
            memory,
            connections.enter("a port", new EmbeddedChannel(), 0, false).orElseThrow(),
            new PortMeter(),
            stop));
  }

  /** Memory held by an idle transaction or WATCH is reclaimed. */
  @Test
  void aSilentClientThatHoldsSharedMemoryIsClosed() {
    ConnectionMemory memory = new ConnectionMemory(new MemoryBudget(1 << 20), 0);
    EmbeddedChannel channel = silent(memory, cause -> {});
    assertTrue(memory.tryTake(ConnectionMemory.FREE_BYTES));
    channel.advanceTimeBy(5, TimeUnit.MINUTES);
    channel.runScheduledPendingTasks();
    assertTrue(channel.isActive(), "it holds what every connection may");
    assertTrue(memory.tryTake(1));
    channel.advanceTimeBy(30, TimeUnit.SECONDS);
    channel.runScheduledPendingTasks();
    assertFalse(channel.isActive());
  }

  /** The memory of a queued command stays reserved until it has run. */
  @Test
  void queuedCommandsAreCounted() {
    MemoryBudget budget = new MemoryBudget(1 << 20);
    Deque<Runnable> later = new ArrayDeque<>();
    EmbeddedChannel channel =
        new EmbeddedChannel(
            new CommandConnection(
                new Holding(),
                new LoopCommits(later::add, later::add, operations -> {}, cause -> {}),
                new ConnectionMemory(budget, 0),
                budget.connections().enter("a port", new EmbeddedChannel(), 0, false).orElseThrow(),
                new PortMeter(),
                cause -> {}));
    channel.writeInbound(Unpooled.wrappedBuffer(new byte[] {1}));
    assertTrue(budget.usedBytes() >= HELD_BYTES - ConnectionMemory.FREE_BYTES);
    while (!later.isEmpty()) {
      later.poll().run();
    }
    assertEquals(0, budget.usedBytes());
  }

  /** Transports may deliver input after reading has been paused: io_uring does. */
  @Test
  void inputThatComesWhileReadingIsPausedIsLimited() {
    MemoryBudget budget = new MemoryBudget(0);
    Deque<Runnable> later = new ArrayDeque<>();
    Bytes decoder = new Bytes();
    EmbeddedChannel channel =
        new EmbeddedChannel(
            new CommandConnection(
                decoder,
                new LoopCommits(later::add, later::add, operations -> {}, cause -> {}),
                new ConnectionMemory(budget, 0),
                new MemoryBudget(0)
                    .connections()
                    .enter("a port", new EmbeddedChannel(), 0, false)
                    .orElseThrow(),
                new PortMeter(),
                cause -> {}));
    for (int i = 0; i < 100; i++) {
      channel.writeInbound(Unpooled.wrappedBuffer(new byte[10_000]));
    }
    while (!later.isEmpty()) {
      later.poll().run();
      channel.runPendingTasks();
    }
    assertTrue(decoder.isEnding(), "it is rejected");
    assertTrue(decoder.decoded > 0 && decoder.decoded < 50_000, decoder.decoded + " bytes kept");
    assertEquals(0, budget.usedBytes());
  }

  /** Decodes each byte as a command. */
  private static final class Bytes extends Silent {
    int decoded;
    boolean isRejected;

    @Override
    public boolean decode(ByteBuf in, Batch batch) {
      if (!in.isReadable()) {
        return false;
      }
      in.skipBytes(1);
      decoded++;
      batch.add(new Nothing());
      return true;
    }

    @Override
    public boolean isEnding() {
      return isRejected;
    }

    @Override
    public void outOfMemory(Batch batch) {
      isRejected = true;
      batch.add(new Nothing());
    }
  }

  private static final int HELD_BYTES = 500_000;

  /** Decodes each byte as a command that holds much memory. */
  private static final class Holding extends Silent {
    @Override
    public boolean decode(ByteBuf in, Batch batch) {
      if (!in.isReadable()) {
        return false;
      }
      in.skipBytes(1);
      assertTrue(batch.tryHold(HELD_BYTES));
      batch.add(new Nothing());
      return true;
    }
  }

  /** Does and answers nothing. */
  private static final class Nothing implements PendingCommand {
    @Override
    public int bytesMax(CounterAccess counters) {
      return 0;
    }

    @Override
    public void run(CounterAccess counters, ByteBuf out) {}

    @Override
    public void failed(RuntimeException why, ByteBuf out) {}
  }

  private static @Nullable Throwable stoppedBy(Throwable cause) {
    AtomicReference<@Nullable Throwable> stopped = new AtomicReference<>();
    EmbeddedChannel channel = silent(new ConnectionMemory(new MemoryBudget(0), 0), stopped::set);
    channel.pipeline().fireExceptionCaught(cause);
    assertFalse(channel.isActive(), "it is closed");
    return stopped.get();
  }

  /** A VirtualMachineError stops the engine; exhausted direct memory closes the connection only. */
  @Test
  void anErrorOnAConnectionStopsTheEngine() {
    Throwable heap = new OutOfMemoryError("Java heap space");
    Throwable stack = new StackOverflowError();
    assertEquals(heap, stoppedBy(heap));
    assertEquals(stack, stoppedBy(stack));
    assertNull(stoppedBy(new OutOfMemoryError("Cannot reserve 8 bytes of direct buffer memory")));
    assertNull(stoppedBy(new IllegalStateException("planted")));
  }

  /** Decodes nothing. */
  private static class Silent implements CommandDecoder {
    @Override
    public boolean decode(ByteBuf in, Batch batch) {
      return false;
    }

    @Override
    public boolean isError(ByteBuf replies, int at) {
      return false;
    }

    @Override
    public boolean isEnding() {
      return false;
    }

    @Override
    public boolean hasPartialCommand() {
      return false;
    }

    @Override
    public long heldBytes() {
      return 0;
    }

    @Override
    public long keptBytes() {
      return 0;
    }

    @Override
    public void answered() {}

    @Override
    public void trim() {}

    @Override
    public void outOfMemory(Batch batch) {}

    @Override
    public void closed(Batch last) {}
  }

  private static String command(String... words) {
    StringBuilder text = new StringBuilder("*" + words.length + "\r\n");
    for (String each : words) {
      text.append("$").append(each.length()).append("\r\n").append(each).append("\r\n");
    }
    return text.toString();
  }

  /** Objects of commands are used again: what one leaves must not matter to the next. */
  @Test
  void aPlainAddAfterManyWithIdsIsApplied() throws Exception {
    int port = serve(new MemoryBudget(64 << 20));
    try (RawClient client = new RawClient(port)) {
      StringBuilder once = new StringBuilder();
      for (int i = 0; i < 1_000; i++) {
        once.append(command("QUIPU.ADD", "steady", "1", "ID", "id-%06d".formatted(i)));
      }
      client.send(once.toString());
      StringBuilder replies = new StringBuilder();
      for (int i = 0; i < 1_000; i++) {
        replies.append("*3\r\n:%d\r\n:1\r\n:0\r\n".formatted(i + 2));
      }
      assertEquals(replies.toString(), client.read(replies.length()));
      for (String name : List.of("new-a", "new-b")) {
        client.send(command("INCR", name)); // which the fast path cannot create
        assertEquals(":1\r\n", client.read(4));
        client.send(command("GET", name));
        assertEquals("$1\r\n1\r\n", client.read(7));
      }
    }
  }

  @Test
  void largeCommandsLeaveNothingReserved() throws Exception {
    MemoryBudget budget = new MemoryBudget(64 << 20);
    int port = serve(budget);
    String[] words = new String[201];
    words[0] = "DEL";
    for (int i = 1; i < words.length; i++) {
      words[i] = "%0490d".formatted(i);
    }
    String large = command(words);
    try (RawClient client = new RawClient(port)) {
      for (int i = 0; i < 20; i++) {
        client.send(large.substring(0, 50_000));
        Thread.sleep(5); // so that it arrives in parts
        client.send(large.substring(50_000));
        assertEquals(":0\r\n", client.read(4));
      }
      assertTrue(budget.usedBytes() < 200_000, budget.usedBytes() + " bytes while it is open");
    }
    Progress.await("everything is released", () -> budget.usedBytes() == 0);
  }
}
