package dev.quipu.server.cli;

import dev.quipu.server.cli.settings.Variables;
import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.URI;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.json.JsonFactory;

/**
 * {@code quipu get NAME}, which scripts repeat, without the model of the command line and without
 * the client: both take several times as long to load as the read itself. Whatever is out of the
 * ordinary, such as an option, a failure, or a counter that does not exist, is left to the command.
 */
public final class PlainGet {
  private static final int PATIENCE_MILLIS = (int) Duration.ofSeconds(5).toMillis();
  private static final int OK = 200;

  private PlainGet() {}

  /** Returns the value; empty if the arguments or the response are not the plain ones. */
  public static Optional<String> value(Map<String, String> environment, String... arguments) {
    boolean isPlain =
        arguments.length == 2
            && arguments[0].equals("get")
            && !arguments[1].startsWith("-") // an option
            && !arguments[1].startsWith("@") // a file of arguments
            && !Variables.hasOther(environment, Set.of("QUIPU_SERVER"));
    if (!isPlain) {
      return Optional.empty();
    }
    String server = environment.getOrDefault("QUIPU_SERVER", "http://127.0.0.1:7080");
    String name = arguments[1];
    String path = URLEncoder.encode(name, StandardCharsets.UTF_8).replace("+", "%20");
    try {
      URI uri = URI.create(server).resolve("/v1/counters/" + path);
      return "http".equals(uri.getScheme()) ? read(uri, name) : Optional.empty();
    } catch (IOException | IllegalArgumentException | JacksonException e) {
      return Optional.empty();
    }
  }

  private static Optional<String> read(URI uri, String name) throws IOException {
    HttpURLConnection connection = (HttpURLConnection) uri.toURL().openConnection();
    connection.setConnectTimeout(PATIENCE_MILLIS);
    connection.setReadTimeout(PATIENCE_MILLIS);
    connection.setInstanceFollowRedirects(false);
    if (connection.getResponseCode() != OK) {
      return Optional.empty();
    }
    Map<String, String> members = new HashMap<>();
    try (InputStream body = connection.getInputStream();
        JsonParser parser = new JsonFactory().createParser(ObjectReadContext.empty(), body)) {
      while (parser.nextToken() != null) {
        if (parser.currentToken() == JsonToken.VALUE_STRING) {
          members.put(parser.currentName(), parser.getString());
        }
      }
    }
    Optional<String> value = Optional.ofNullable(members.get("value"));
    boolean isCertain =
        value.equals(Optional.ofNullable(members.get("low")))
            && value.equals(Optional.ofNullable(members.get("high")))
            && name.equals(members.get("name"));
    return isCertain ? value : Optional.empty();
  }
}
