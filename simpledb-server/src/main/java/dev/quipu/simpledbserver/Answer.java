package dev.quipu.simpledbserver;

import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.NavigableMap;
import java.util.NavigableSet;

/** Builds a reply in the XML of the service. */
final class Answer {
  private static final String BOX_USAGE = "0.0000219907";

  private final StringBuilder body = new StringBuilder();

  /** Returns the current length in characters. */
  int length() {
    return body.length();
  }

  Answer text(String element, String text) {
    body.append('<').append(element);
    if (isWritable(text)) {
      body.append('>');
      escape(text);
    } else {
      body.append(" encoding=\"base64\">")
          .append(Base64.getEncoder().encodeToString(text.getBytes(StandardCharsets.UTF_8)));
    }
    body.append("</").append(element).append('>');
    return this;
  }

  Answer number(String element, long number) {
    return text(element, Long.toString(number));
  }

  Answer attributes(NavigableMap<String, NavigableSet<String>> attributes) {
    attributes.forEach((name, values) -> values.forEach(value -> attribute(name, value)));
    return this;
  }

  Answer attribute(String name, String value) {
    body.append("<Attribute>");
    text("Name", name).text("Value", value);
    body.append("</Attribute>");
    return this;
  }

  Answer item(String name, NavigableMap<String, NavigableSet<String>> attributes) {
    body.append("<Item>");
    text("Name", name).attributes(attributes);
    body.append("</Item>");
    return this;
  }

  Answer count(long count) {
    body.append("<Item>");
    text("Name", "Domain").attribute("Count", Long.toString(count));
    body.append("</Item>");
    return this;
  }

  /** Returns the complete reply to an action. */
  byte[] wrapped(String action, boolean isWrite, String requestId) {
    String result =
        isWrite ? "" : "<%1$sResult>%2$s</%1$sResult>".formatted(action, body.toString());
    return """
    <?xml version="1.0"?>
    <%1$sResponse xmlns="http://sdb.amazonaws.com/doc/2009-04-15/">%2$s\
    <ResponseMetadata><RequestId>%3$s</RequestId><BoxUsage>%4$s</BoxUsage>\
    </ResponseMetadata></%1$sResponse>\
    """
        .formatted(action, result, requestId, BOX_USAGE)
        .getBytes(StandardCharsets.UTF_8);
  }

  /** Returns an error reply. */
  static byte[] error(SdbException e, String requestId) {
    Answer answer = new Answer();
    answer.text("Code", e.code()).text("Message", e.text()).text("BoxUsage", BOX_USAGE);
    return """
    <?xml version="1.0"?>
    <Response><Errors><Error>%s</Error></Errors><RequestID>%s</RequestID></Response>\
    """
        .formatted(answer.body, requestId)
        .getBytes(StandardCharsets.UTF_8);
  }

  private void escape(String text) {
    text.codePoints()
        .forEach(each -> {
          switch (each) {
            case '<' -> body.append("&lt;");
            case '>' -> body.append("&gt;");
            case '&' -> body.append("&amp;");
            default -> body.appendCodePoint(each);
          }
        });
  }

  /** Returns whether XML preserves a text; parsers convert a carriage return. */
  private static boolean isWritable(String text) {
    return text.codePoints()
        .allMatch(each ->
            each == '\t'
                || each == '\n'
                || (each >= ' ' && each < 0xD800)
                || (each > 0xDFFF && each < 0xFFFE)
                || each > 0xFFFF);
  }
}
