package dev.quipu.server.http.route;

import dev.quipu.server.net.CommandHelp;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The OpenAPI document, which {@code /openapi.json} serves. */
public final class OpenApi {
  private OpenApi() {}

  static byte[] bytes() {
    return resource("openapi.json");
  }

  /** Returns the content of a file beside this class. */
  static byte[] resource(String name) {
    try (InputStream in = Objects.requireNonNull(OpenApi.class.getResourceAsStream(name))) {
      return in.readAllBytes();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns all routes of the document. */
  public static List<CommandHelp> routes() {
    List<CommandHelp> routes = new ArrayList<>();
    JsonNode paths = JsonMapper.shared().readTree(bytes()).get("paths");
    for (Map.Entry<String, JsonNode> path : paths.properties()) {
      for (Map.Entry<String, JsonNode> method : path.getValue().properties()) {
        if (method.getValue().has("summary")) {
          routes.add(
              new CommandHelp(
                  "HTTP",
                  method.getKey().toUpperCase(Locale.ROOT),
                  path.getKey(),
                  method.getValue().get("summary").asString()));
        }
      }
    }
    return routes;
  }
}
