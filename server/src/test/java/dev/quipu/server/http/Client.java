package dev.quipu.server.http;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpHeaders;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** An HTTP client that can also send malformed requests. */
final class Client {
  static final String ADD = "/v1/counters/%s/add";
  private static final JsonMapper MAPPER = JsonMapper.builder().build();

  private final InetSocketAddress address;
  private final HttpClient http =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

  Client(InetSocketAddress address) {
    this.address = address;
  }

  /** A response. */
  record Reply(int status, String body, HttpHeaders headers) {
    JsonNode json() {
      return MAPPER.readTree(body);
    }

    String text(String field) {
      return json().path(field).asString("");
    }
  }

  Reply get(String path) {
    return send(request(path).GET());
  }

  Reply add(String name, String body, String... headers) {
    return post(ADD.formatted(name), body, headers);
  }

  Reply post(String path, String body, String... headers) {
    return postAs(path, "application/json", body, headers);
  }

  Reply postAs(String path, String type, String body, String... headers) {
    HttpRequest.Builder request =
        request(path).header("Content-Type", type).POST(HttpRequest.BodyPublishers.ofString(body));
    return send(headers.length == 0 ? request : request.headers(headers));
  }

  HttpRequest.Builder request(String path) {
    return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + address.getPort() + path))
        .timeout(Duration.ofMinutes(5));
  }

  Reply send(HttpRequest.Builder request) {
    try {
      HttpResponse<String> response =
          http.send(request.build(), HttpResponse.BodyHandlers.ofString());
      return new Reply(response.statusCode(), response.body(), response.headers());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  Socket connect() throws IOException {
    Socket socket = new Socket();
    socket.connect(address, 60_000);
    socket.setSoTimeout(60_000);
    return socket;
  }

  /** Sends these bytes, and returns all bytes until the server closes the connection. */
  String raw(byte[] bytes) throws IOException {
    try (Socket socket = connect()) {
      OutputStream out = socket.getOutputStream();
      out.write(bytes);
      out.flush();
      socket.shutdownOutput();
      return read(socket);
    }
  }

  String raw(String text) throws IOException {
    return raw(text.getBytes(StandardCharsets.ISO_8859_1));
  }

  static String read(Socket socket) throws IOException {
    InputStream in = socket.getInputStream();
    StringBuilder text = new StringBuilder();
    byte[] buffer = new byte[8_192];
    try {
      for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
        text.append(new String(buffer, 0, n, StandardCharsets.ISO_8859_1));
      }
    } catch (SocketException reset) {
      text.append("[reset]"); // the server closed with bytes unread
    }
    return text.toString();
  }
}
