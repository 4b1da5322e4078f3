package dev.quipu.server.webhook;

import java.net.URI;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;

/** The hosts that crossings may be sent to. */
public record AllowedHosts(Set<String> hosts) {
  private static final String HOST = "([A-Za-z0-9._-]{1,253}|\\[[0-9A-Fa-f:.]{2,45}\\])";
  private static final String PORT = "(:[1-9][0-9]{0,4})?";
  private static final int HTTP_PORT = 80;
  private static final int HTTPS_PORT = 443;

  /**
   * Returns the hosts of a list of {@code HOST} or {@code HOST:PORT}; without a port, only the
   * usual ones of http and https are allowed.
   *
   * @throws IllegalArgumentException naming one that is not a host
   */
  public static AllowedHosts of(List<String> hosts) {
    for (String each : hosts) {
      if (!each.matches(HOST + PORT)) {
        throw new IllegalArgumentException(
            "--webhook-allow has '%s'; it must be a host such as hooks.example.com, or localhost:8080"
                .formatted(each));
      }
    }
    return new AllowedHosts(
        hosts.stream().map(each -> each.toLowerCase(Locale.ROOT)).collect(Collectors.toSet()));
  }

  /** Returns whether an address is on an allowed host. */
  boolean allow(URI webhook) {
    String host = Objects.requireNonNull(webhook.getHost()).toLowerCase(Locale.ROOT);
    int usual = "https".equalsIgnoreCase(webhook.getScheme()) ? HTTPS_PORT : HTTP_PORT;
    int port = webhook.getPort() < 0 ? usual : webhook.getPort();
    return hosts.contains(host + ":" + port) || (port == usual && hosts.contains(host));
  }
}
