package dev.quipu.server.http.message;

import java.nio.ByteBuffer;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;

/**
 * Parses the lines of a body. One parser reads all that are a valid object of ASCII: to create one
 * takes as long as to parse a short line. A line that is anything else is parsed by itself, so that
 * its error does not depend on the lines around it.
 */
final class LineParser {
  private final ByteBuffer body;
  private @Nullable JsonParser parser;
  private int begin; // of the input of the parser, in the body
  private int next; // where the parser goes on

  /** Creates a parser of the lines of this body. */
  LineParser(ByteBuffer body) {
    this.body = body;
  }

  /**
   * Parses a line of the body.
   *
   * @throws Problem if it is not an object with no other fields than these
   */
  JsonBody parse(ByteBuffer line, Set<String> fields) {
    JsonBody found = JsonBody.isAscii(line) ? tryParse(line, fields) : null;
    if (found != null) {
      return found;
    }
    close(); // it may be in the middle of another line
    return JsonBody.parse("line", line, fields);
  }

  /** Returns the object of a line; null if it is not one, or goes on after the line. */
  private @Nullable JsonBody tryParse(ByteBuffer line, Set<String> fields) {
    try {
      JsonParser reader = parser;
      if (reader == null || next != line.position()) {
        close();
        begin = line.position();
        int bytes = body.limit() - begin;
        reader = JsonBody.MAPPER.createParser(body.array(), body.arrayOffset() + begin, bytes);
        parser = reader;
      }
      if (reader.nextToken() != JsonToken.START_OBJECT) {
        return null;
      }
      JsonBody object = JsonBody.object(reader, fields);
      int end = begin + (int) reader.currentLocation().getByteOffset();
      next = line.limit() + 1;
      if (next >= body.limit()) {
        close();
      }
      return end <= line.limit() && isSpace(line, end) ? object : null;
    } catch (JacksonException | Problem e) {
      return null; // again, for a message with the place in this line
    }
  }

  /** Returns the memory of the parser. */
  private void close() {
    if (parser != null) {
      parser.close();
      parser = null;
    }
  }

  /** Returns whether nothing but JSON's white space is from a position of a line on. */
  private static boolean isSpace(ByteBuffer line, int from) {
    for (int at = from; at < line.limit(); at++) {
      byte each = line.get(at);
      if (each != ' ' && each != '\t' && each != '\r') {
        return false;
      }
    }
    return true;
  }
}
