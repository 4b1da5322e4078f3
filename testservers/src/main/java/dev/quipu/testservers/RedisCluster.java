package dev.quipu.testservers;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** A Redis Cluster of three masters. */
public final class RedisCluster implements AutoCloseable {
  private static final int MASTERS = 3;
  private static final int SLOTS = 16_384;

  private final List<RedisServer> nodes = new ArrayList<>();

  private RedisCluster() {}

  /** Starts a cluster and waits until it is complete. */
  public static RedisCluster start() {
    RedisCluster cluster = new RedisCluster();
    for (int i = 0; i < MASTERS; i++) {
      cluster.nodes.add(
          RedisServer.start(
              "--cluster-enabled", "yes",
              "--cluster-port", Integer.toString(ServerProcess.freePort()),
              "--appendonly", "yes",
              "--appendfsync", "always"));
    }
    for (int i = 0; i < MASTERS; i++) {
      int first = SLOTS * i / MASTERS;
      int last = SLOTS * (i + 1) / MASTERS - 1;
      ask(cluster.nodes.get(i), "CLUSTER ADDSLOTSRANGE %d %d".formatted(first, last));
    }
    for (RedisServer other : cluster.nodes.subList(1, MASTERS)) {
      String bus = ask(other, "CONFIG GET cluster-port");
      ask(
          cluster.nodes.getFirst(),
          "CLUSTER MEET 127.0.0.1 %d %s"
              .formatted(other.port(), bus.lines().reduce("", (line, next) -> next)));
    }
    while (!cluster.nodes.stream().allMatch(RedisCluster::isWhole)) {
      ServerProcess.pause();
    }
    return cluster;
  }

  private static boolean isWhole(RedisServer node) {
    String info = ask(node, "CLUSTER INFO");
    return info.contains("cluster_state:ok") && info.contains("cluster_known_nodes:" + MASTERS);
  }

  /** Sends an inline command; returns its reply as text. */
  private static String ask(RedisServer node, String command) {
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), node.port())) {
      socket.setSoTimeout(10_000);
      socket
          .getOutputStream()
          .write((command + "\r\nQUIT\r\n").getBytes(StandardCharsets.US_ASCII));
      StringBuilder reply = new StringBuilder();
      BufferedReader in =
          new BufferedReader(
              new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
      for (String line = in.readLine(); line != null; line = in.readLine()) {
        if (line.startsWith("-")) {
          throw new IllegalStateException(command + ": " + line);
        }
        if (!line.equals("+OK")) {
          reply.append(line).append('\n');
        }
      }
      return reply.toString();
    } catch (IOException e) {
      throw new UncheckedIOException(command, e);
    }
  }

  /** Returns the ports of its masters on 127.0.0.1. */
  public List<Integer> ports() {
    return nodes.stream().map(RedisServer::port).toList();
  }

  @Override
  public void close() {
    nodes.forEach(RedisServer::close);
  }
}
