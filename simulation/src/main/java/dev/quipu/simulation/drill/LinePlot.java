package dev.quipu.simulation.drill;

import java.util.List;
import java.util.Locale;

/** Plots lines as an SVG. */
public final class LinePlot {
  private static final List<String> COLOURS = List.of("#7a7a7a", "#3367d6", "#b3261e");

  private LinePlot() {}

  /**
   * Draws lines above a baseline of 0.
   *
   * @param names names of the lines, at most three; not escaped
   * @param places labels of the x axis, from left to right, at least two; not escaped
   * @param lines one value per place for each line
   */
  public static String svg(List<String> names, List<String> places, List<List<Double>> lines) {
    double most = lines.stream().flatMap(List::stream).mapToDouble(each -> each).max().orElse(1);
    int apart = 450 / (places.size() - 1);
    StringBuilder svg =
        new StringBuilder(
            """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 640 300" font-family="sans-serif" font-size="12">
            <rect width="640" height="300" fill="#ffffff"/>
            """);
    for (int i = 0; i < lines.size(); i++) {
      StringBuilder points = new StringBuilder();
      for (int j = 0; j < places.size(); j++) {
        points.append(
            String.format(
                Locale.ROOT, "%d,%.1f ", 60 + j * apart, 260 - 220 * lines.get(i).get(j) / most));
      }
      svg.append(
          "<polyline fill=\"none\" stroke-width=\"2\" stroke=\"%s\" points=\"%s\"/>%n"
              .formatted(COLOURS.get(i), points.toString().strip()));
      svg.append(
          "<text x=\"60\" y=\"%d\" fill=\"%s\">%s</text>%n"
              .formatted(20 + 16 * i, COLOURS.get(i), names.get(i)));
    }
    for (int j = 0; j < places.size(); j++) {
      svg.append(
          "<text x=\"%d\" y=\"280\" text-anchor=\"middle\">%s</text>%n"
              .formatted(60 + j * apart, places.get(j)));
    }
    svg.append(String.format(Locale.ROOT, "<text x=\"4\" y=\"44\">%.1f</text>%n", most));
    return svg.append("</svg>\n").toString();
  }
}
