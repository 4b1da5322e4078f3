package dev.quipu.server.resp;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;

/** Sends lines and reads replies byte by byte, without interpreting them. */
public final class RawClient implements AutoCloseable {
  private static final int PATIENCE_MILLIS = 60_000;

  private final Socket socket;
  private final InputStream in;

  /** Connects to a local port. */
  public RawClient(int port) throws IOException {
    this.socket = new Socket(InetAddress.getLoopbackAddress(), port);
    socket.setSoTimeout(PATIENCE_MILLIS);
    this.in = new BufferedInputStream(socket.getInputStream());
  }

  /** Sends a text, one byte per character. */
  public void send(String bytes) throws IOException {
    socket.getOutputStream().write(bytes.getBytes(StandardCharsets.ISO_8859_1));
  }

  /** Sends a line and returns its RESP reply. */
  public String ask(String line) throws IOException {
    send(line + "\r\n");
    return answer();
  }

  /** Sends a line and returns a reply of one line, as in memcached. */
  public String askLine(String line) throws IOException {
    send(line + "\r\n");
    return readUntil("\r\n");
  }

  /** Reads one RESP reply with its elements. */
  public String answer() throws IOException {
    String head = readUntil("\r\n");
    if (head.isEmpty() || "+-:_,#(".indexOf(head.charAt(0)) >= 0) {
      return head;
    }
    int length = Integer.parseInt(head.substring(1, head.length() - 2));
    StringBuilder all = new StringBuilder(head);
    if ("$=".indexOf(head.charAt(0)) >= 0) {
      byte[] bytes = in.readNBytes(length < 0 ? 0 : length + 2);
      return all.append(new String(bytes, StandardCharsets.ISO_8859_1)).toString();
    }
    for (int i = head.charAt(0) == '%' ? -length : 0; i < length; i++) {
      all.append(answer());
    }
    return all.toString();
  }

  /** Reads up to a text, or until the connection closes. */
  public String readUntil(String end) throws IOException {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    for (int each = in.read(); each >= 0; each = in.read()) {
      all.write(each);
      if (each == '\n' && all.toString(StandardCharsets.ISO_8859_1).endsWith(end)) {
        break;
      }
    }
    return all.toString(StandardCharsets.ISO_8859_1);
  }

  /** Reads this many bytes, or fewer if the connection closes. */
  public String read(int bytes) throws IOException {
    return new String(socket.getInputStream().readNBytes(bytes), StandardCharsets.ISO_8859_1);
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
