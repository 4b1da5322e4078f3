package dev.quipu.redis;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/** A proxy of a server that closes the connection at some commands, or loses all from there on. */
final class CutConnections implements AutoCloseable {
  private final ServerSocket listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
  private final AtomicInteger cuts = new AtomicInteger();
  private final AtomicInteger silences = new AtomicInteger();
  private final Set<Socket> clients = ConcurrentHashMap.newKeySet();
  private final int serverPort;
  private final String command;

  CutConnections(int serverPort, String command) throws IOException {
    this.serverPort = serverPort;
    this.command = command;
    Thread.ofVirtual().start(this::accept);
  }

  int port() {
    return listener.getLocalPort();
  }

  /** Closes the connections of the next {@code times} commands. */
  void cut(int times) {
    cuts.set(times);
  }

  /** Loses the next of these commands, and all after it on its connection, which stays open. */
  void silenceOne() {
    silences.set(1);
  }

  /** Returns whether a connection was silenced since it was asked for. */
  boolean hasSilenced() {
    return silences.get() == 0;
  }

  /** Closes all connections. */
  void closeAll() throws IOException {
    for (Socket each : clients) {
      each.close();
    }
    clients.clear();
  }

  private void accept() {
    try {
      while (true) {
        Socket client = listener.accept();
        clients.add(client);
        Socket server = new Socket(InetAddress.getLoopbackAddress(), serverPort);
        Thread.ofVirtual().start(() -> copy(client, server, true));
        Thread.ofVirtual().start(() -> copy(server, client, false));
      }
    } catch (IOException closed) {
      // it ends with the test
    }
  }

  private void copy(Socket from, Socket to, boolean isClient) {
    byte[] bytes = new byte[8_192];
    boolean isSilent = false;
    try (from;
        to) {
      InputStream in = from.getInputStream();
      OutputStream out = to.getOutputStream();
      for (int read = in.read(bytes); read >= 0; read = in.read(bytes)) {
        String text = new String(bytes, 0, read, StandardCharsets.ISO_8859_1);
        boolean isIt = isClient && text.contains(command);
        if (isIt && takesOne(cuts)) {
          return;
        }
        isSilent |= isIt && takesOne(silences);
        if (isSilent) {
          continue;
        }
        out.write(bytes, 0, read);
        out.flush();
      }
    } catch (IOException broken) {
      // as the other end sees it
    }
  }

  private static boolean takesOne(AtomicInteger from) {
    return from.getAndUpdate(left -> Math.max(0, left - 1)) > 0;
  }

  @Override
  public void close() throws IOException {
    listener.close();
  }
}
