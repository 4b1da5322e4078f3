package dev.quipu.simulation.advisor;

import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.Reader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.OptionalDouble;
import java.util.Properties;

/** Prices of stores, in US dollars, at one date. */
public final class Prices {
  private static final double SECONDS_OF_MONTH = 30 * 86_400.0;
  private static final double MILLION = 1e6;
  private static final double GIGABYTE = 1L << 30;

  private final Properties properties;

  private Prices(Properties properties) {
    this.properties = properties;
  }

  /** Returns the prices that come with Quipu. */
  public static Prices builtIn() {
    try (InputStream from = Prices.class.getResourceAsStream("prices.properties")) {
      if (from == null) {
        throw new IllegalStateException("prices.properties is missing next to " + Prices.class);
      }
      return read(new InputStreamReader(from, StandardCharsets.UTF_8));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Reads prices from a file of the same format. */
  public static Prices of(Path file) throws IOException {
    try (Reader from = Files.newBufferedReader(file)) {
      return read(from);
    }
  }

  private static Prices read(Reader from) throws IOException {
    Properties properties = new Properties();
    properties.load(from);
    return new Prices(properties);
  }

  /** Returns the date of the prices. */
  public String date() {
    return properties.getProperty("date", "unknown");
  }

  /**
   * Returns the cost of a month of 30 days; empty for a store without a price per call.
   *
   * @param keptBytes number of stored bytes
   */
  public OptionalDouble month(
      String store, double writeUnitsPerSecond, double readUnitsPerSecond, double keptBytes) {
    if (!properties.containsKey(store + ".million-write-units")) {
      return OptionalDouble.empty();
    }
    double writes = writeUnitsPerSecond * SECONDS_OF_MONTH / MILLION;
    double reads = readUnitsPerSecond * SECONDS_OF_MONTH / MILLION;
    return OptionalDouble.of(
        writes * price(store + ".million-write-units")
            + reads * price(store + ".million-read-units")
            + keptBytes / GIGABYTE * price(store + ".gigabyte-month"));
  }

  private double price(String name) {
    String text = properties.getProperty(name, "");
    try {
      double price = Double.parseDouble(text.strip());
      if (price >= 0 && price < MILLION) {
        return price;
      }
    } catch (NumberFormatException e) {
      // reported below
    }
    throw new IllegalArgumentException("price %s is '%s'; expected a number".formatted(name, text));
  }
}
