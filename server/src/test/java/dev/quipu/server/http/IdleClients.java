package dev.quipu.server.http;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;

/** A process that opens idle connections, and holds them until it is killed. */
final class IdleClients {
  private IdleClients() {}

  /** Arguments: port, number of connections. Prints the number that it opened, and waits. */
  public static void main(String[] arguments) throws IOException {
    List<Socket> sockets = new ArrayList<>();
    InetSocketAddress server =
        new InetSocketAddress(InetAddress.getLoopbackAddress(), Integer.parseInt(arguments[0]));
    try {
      for (int i = 0; i < Integer.parseInt(arguments[1]); i++) {
        Socket socket = new Socket();
        socket.connect(server, 60_000);
        sockets.add(socket);
      }
    } catch (IOException e) {
      System.err.println(e);
    }
    System.out.println(sockets.size());
    System.in.read(); // ends with the test
  }
}
