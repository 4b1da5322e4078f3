package dev.quipu.server.cli.settings;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.api.lowlevel.Compose;
import org.snakeyaml.engine.v2.exceptions.MarkedYamlEngineException;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;
import org.snakeyaml.engine.v2.nodes.MappingNode;
import org.snakeyaml.engine.v2.nodes.Node;
import org.snakeyaml.engine.v2.nodes.NodeTuple;
import org.snakeyaml.engine.v2.nodes.ScalarNode;
import org.snakeyaml.engine.v2.nodes.SequenceNode;
import org.snakeyaml.engine.v2.nodes.Tag;

/**
 * A file of options: a YAML mapping of commands to mappings of their options to values.
 *
 * <pre>{@code
 * serve:
 *   data: /var/lib/quipu
 *   allow-origin: [https://a.example, https://b.example]
 * }</pre>
 */
final class SettingsFile {
  private static final int BYTES_MAX = 1 << 20;

  private final Path file;
  private final Map<String, Map<String, Value>> sections = new LinkedHashMap<>();
  private final Map<String, Integer> lines = new LinkedHashMap<>();

  /**
   * The value of an option.
   *
   * @param text as it would be given as an argument; elements of a list are separated by commas
   */
  record Value(String text, int line) {}

  private SettingsFile(Path file) {
    this.file = file;
  }

  /**
   * Reads a file.
   *
   * @throws IllegalArgumentException naming file and line
   */
  static SettingsFile read(Path file) {
    SettingsFile settings = new SettingsFile(file);
    LoadSettings form = LoadSettings.builder().setLabel(file.toString()).build();
    try {
      Optional<Node> root = new Compose(form).composeString(text(file));
      root.ifPresent(settings::readSections);
    } catch (MarkedYamlEngineException e) {
      throw settings.malformed(
          e.getProblemMark().map(mark -> mark.getLine() + 1).orElse(1), e.getProblem());
    } catch (YamlEngineException e) {
      throw new IllegalArgumentException("%s: %s".formatted(file, e.getMessage()), e);
    }
    return settings;
  }

  private static String text(Path file) {
    try (InputStream in = Files.newInputStream(file)) {
      byte[] bytes = in.readNBytes(BYTES_MAX + 1);
      if (bytes.length > BYTES_MAX) {
        throw new IllegalArgumentException(
            "%s is longer than %d bytes, the limit of --config".formatted(file, BYTES_MAX));
      }
      return new String(bytes, StandardCharsets.UTF_8);
    } catch (NoSuchFileException e) {
      throw new IllegalArgumentException("cannot read %s: no such file".formatted(file), e);
    } catch (IOException e) {
      throw new IllegalArgumentException("cannot read %s: %s".formatted(file, e.getMessage()), e);
    }
  }

  private void readSections(Node root) {
    for (NodeTuple section : mapping(root, "the file must be a mapping of commands")) {
      String name = scalar(section.getKeyNode(), "a command must be a name");
      Map<String, Value> options = new LinkedHashMap<>();
      String isNoMapping = "'%s' must be a mapping of its options".formatted(name);
      for (NodeTuple option : mapping(section.getValueNode(), isNoMapping)) {
        String key = scalar(option.getKeyNode(), "an option must be a name");
        Value value = new Value(value(key, option.getValueNode()), line(option.getKeyNode()));
        if (options.put(key, value) != null) {
          throw malformed(value.line(), "duplicate option '%s'".formatted(key));
        }
      }
      if (sections.put(name, options) != null) {
        throw malformed(line(section.getKeyNode()), "duplicate command '%s'".formatted(name));
      }
      lines.put(name, line(section.getKeyNode()));
    }
  }

  private Iterable<NodeTuple> mapping(Node node, String otherwise) {
    if (node instanceof MappingNode mapping) {
      return mapping.getValue();
    }
    throw malformed(line(node), otherwise);
  }

  private String value(String option, Node node) {
    String otherwise = "'%s' must have a value, or a list of values".formatted(option);
    if (!(node instanceof SequenceNode list)) {
      return scalar(node, otherwise);
    }
    StringBuilder values = new StringBuilder();
    for (Node each : list.getValue()) {
      String value = scalar(each, otherwise);
      if (value.contains(",")) {
        throw malformed(line(each), "an element of '%s' contains a comma".formatted(option));
      }
      values.append(values.isEmpty() ? "" : ",").append(value);
    }
    if (values.isEmpty()) {
      throw malformed(line(node), otherwise);
    }
    return values.toString();
  }

  private String scalar(Node node, String otherwise) {
    if (node instanceof ScalarNode scalar && !scalar.getTag().equals(Tag.NULL)) {
      return scalar.getValue();
    }
    throw malformed(line(node), otherwise);
  }

  private static int line(Node node) {
    return node.getStartMark().map(mark -> mark.getLine() + 1).orElse(1);
  }

  private IllegalArgumentException malformed(int line, String problem) {
    return new IllegalArgumentException("%s: %s".formatted(place(line), problem));
  }

  /** Returns file and line, for messages. */
  String place(int line) {
    return "%s, line %d".formatted(file, line);
  }

  /** Returns the commands that the file has options of, with their lines. */
  Map<String, Integer> commands() {
    return lines;
  }

  /** Returns the options of a command, without their leading dashes. */
  Map<String, Value> options(String command) {
    return sections.getOrDefault(command, Map.of());
  }
}
