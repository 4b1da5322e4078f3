package dev.quipu.spring;

import dev.quipu.Limits;
import dev.quipu.Quipu;
import dev.quipu.QuipuException;
import java.net.URI;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Opens the place that the properties name, and explains why it cannot be opened. */
final class QuipuOpening {
  private static final String CHOOSE =
      "Set exactly one of quipu.directory (the embedded engine), quipu.store (a store of yours, such"
          + " as redis://127.0.0.1) and quipu.server (a Quipu server, such as"
          + " http://127.0.0.1:7080), or declare a bean of type dev.quipu.Quipu.";

  /** Shortest and longest deadline of a call. */
  private static final Duration TIMEOUT_MIN = Duration.ofMillis(1);

  private static final Duration TIMEOUT_MAX = Duration.ofDays(1);

  private QuipuOpening() {}

  /**
   * Opens the place.
   *
   * @throws QuipuConfigurationException if the properties are in conflict, or nothing can be opened
   *     with them
   */
  static Quipu open(QuipuProperties properties, Stream<QuipuBuilderCustomizer> customizers) {
    String place = place(properties);
    check(place, properties);
    Quipu.Builder builder = builder(properties);
    customizers.forEach(each -> each.customize(builder));
    try {
      return builder.build();
    } catch (IllegalArgumentException | IllegalStateException | QuipuException e) {
      throw new QuipuConfigurationException(
          "Counters of %s could not be opened: %s".formatted(place, e.getMessage()),
          remedy(place, e),
          e);
    }
  }

  private static String place(QuipuProperties properties) {
    List<String> places = properties.places();
    if (places.size() != 1) {
      throw new QuipuConfigurationException(
          places.isEmpty()
              ? "None of quipu.directory, quipu.store and quipu.server is set."
              : "%s are set; an application counts in one place."
                  .formatted(String.join(" and ", places)),
          CHOOSE,
          null);
    }
    return places.getFirst();
  }

  /** Rejects properties of another place, and those out of their limits. */
  private static void check(String place, QuipuProperties properties) {
    boolean isServer = place.equals("quipu.server");
    onlyFor("quipu.server", isServer, "quipu.token", properties.token());
    onlyFor(
        "quipu.server", isServer, "quipu.trusted-certificates", properties.trustedCertificates());
    onlyFor("quipu.server", isServer, "quipu.timeout", properties.timeout());
    onlyFor("quipu.store", place.equals("quipu.store"), "quipu.technique", properties.technique());
    onlyFor(
        "quipu.directory or quipu.store",
        !isServer,
        "quipu.request-id-retention",
        properties.requestIdRetention());
    inLimits(
        "quipu.request-id-retention",
        properties.requestIdRetention(),
        Limits.RETENTION_MIN,
        Limits.RETENTION_MAX);
    inLimits("quipu.timeout", properties.timeout(), TIMEOUT_MIN, TIMEOUT_MAX);
  }

  private static void onlyFor(
      String owner, boolean isOwner, String property, @Nullable Object value) {
    if (value != null && !isOwner) {
      throw new QuipuConfigurationException(
          "%s is set without %s, and would have no effect.".formatted(property, owner),
          "Remove %s, or set %s.".formatted(property, owner),
          null);
    }
  }

  private static void inLimits(
      String property, @Nullable Duration value, Duration min, Duration max) {
    if (value != null && (value.compareTo(min) < 0 || value.compareTo(max) > 0)) {
      throw new QuipuConfigurationException(
          "%s is %s, which is out of its limits.".formatted(property, Limits.text(value)),
          "Set %s to a time from %s to %s.".formatted(property, Limits.text(min), Limits.text(max)),
          null);
    }
  }

  private static Quipu.Builder builder(QuipuProperties properties) {
    Quipu.Builder builder = Quipu.builder();
    if (properties.directory() != null) {
      builder.directory(path("quipu.directory", properties.directory()));
    }
    if (properties.store() != null) {
      builder.store(properties.store());
    }
    List<URI> servers = properties.server();
    if (!servers.isEmpty()) {
      builder.server(servers.getFirst(), servers.subList(1, servers.size()).toArray(new URI[0]));
    }
    if (properties.token() != null) {
      builder.token(properties.token());
    }
    if (properties.trustedCertificates() != null) {
      builder.trustedCertificates(
          path("quipu.trusted-certificates", properties.trustedCertificates()));
    }
    if (properties.timeout() != null) {
      builder.timeout(properties.timeout());
    }
    if (properties.technique() != null) {
      builder.technique(properties.technique());
    }
    if (properties.requestIdRetention() != null) {
      builder.requestIdRetention(properties.requestIdRetention());
    }
    return builder;
  }

  private static Path path(String property, String text) {
    try {
      return Path.of(text);
    } catch (InvalidPathException e) {
      throw new QuipuConfigurationException(
          "%s is not a path: %s".formatted(property, e.getMessage()),
          "Set %s to a path.".formatted(property),
          e);
    }
  }

  private static String remedy(String place, RuntimeException failure) {
    String message = Objects.requireNonNullElse(failure.getMessage(), "");
    if (failure instanceof IllegalStateException && message.contains("is not on the class path")) {
      return "Add dev.quipu:quipu-spring-boot-starter, which has all modules but those of stores.";
    }
    if (message.contains("store scheme") || message.contains("has no scheme")) {
      return "Correct quipu.store, or add the module of this store, such as"
          + " dev.quipu:quipu-redis, dev.quipu:quipu-postgresql or dev.quipu:quipu-dynamodb.";
    }
    return switch (place) {
      case "quipu.directory" ->
          "Set quipu.directory to a directory that this process can write and no other process"
              + " uses.";
      case "quipu.store" ->
          "Check that the store is reachable, and that quipu.store, quipu.technique and"
              + " quipu.request-id-retention agree with how it is counted on.";
      default -> "Correct quipu.server, quipu.token and quipu.trusted-certificates.";
    };
  }
}
