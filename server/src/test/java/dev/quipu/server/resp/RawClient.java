package dev.quipu.server.resp;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;

/** Sends lines, and reads what comes back byte by byte, whatever it is. */
public final class RawClient implements AutoCloseable {
  private static final int PATIENCE_MILLIS = 60_000;

  private final Socket socket;
  private final InputStream in;

  /** To a port of this machine. */
  public RawClient(int port) throws IOException {
    this.socket = new Socket(InetAddress.getLoopbackAddress(), port);
    socket.setSoTimeout(PATIENCE_MILLIS);
    this.in = new BufferedInputStream(socket.getInputStream());
  }

  /** Sends these, one byte each. */
  public void send(String bytes) throws IOException {
    socket.getOutputStream().write(bytes.getBytes(StandardCharsets.ISO_8859_1));
  }

  /** The one answer to a line. */
  public String ask(String line) throws IOException {
    send(line + "\r\n");
    return answer();
  }

  /** The one line that is answered to this, as memcached's are. */
  public String askLine(String line) throws IOException {
    send(line + "\r\n");
    return readUntil("\r\n");
  }

  /** One answer, with all that it holds. */
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

  /** All up to this, or up to the end of the connection. */
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

  /** Reads this many bytes, or fewer if the connection ends. */
  public String read(int bytes) throws IOException {
    return new String(socket.getInputStream().readNBytes(bytes), StandardCharsets.ISO_8859_1);
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
