package dev.quipu.simpledb;

import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import javax.xml.stream.XMLInputFactory;
import javax.xml.stream.XMLStreamConstants;
import javax.xml.stream.XMLStreamException;
import javax.xml.stream.XMLStreamReader;

/**
 * A reply of SimpleDB.
 *
 * @param items of a select; for any other action, one item without a name that has its attributes
 * @param token requests the next page
 * @param errorCode empty if there was no error
 */
record Reply(List<Found> items, Optional<String> token, String errorCode, String errorMessage) {
  private static final XMLInputFactory FACTORY = factory();

  /** A value of an attribute. */
  record Pair(String name, String value) {}

  /** An item, or the requested part of it. */
  record Found(String name, List<Pair> attributes) {
    /** Returns the values of an attribute. */
    List<String> values(String attribute) {
      return attributes.stream()
          .filter(pair -> pair.name.equals(attribute))
          .map(Pair::value)
          .toList();
    }

    /** Returns the only value of an attribute. */
    Optional<String> value(String attribute) {
      return values(attribute).stream().findFirst();
    }
  }

  private static XMLInputFactory factory() {
    XMLInputFactory factory = XMLInputFactory.newDefaultFactory();
    factory.setProperty(XMLInputFactory.SUPPORT_DTD, false);
    factory.setProperty(XMLInputFactory.IS_COALESCING, true);
    return factory;
  }

  /**
   * Parses a reply.
   *
   * @throws XMLStreamException if it is malformed
   */
  static Reply parse(byte[] xml) throws XMLStreamException {
    XMLStreamReader reader;
    synchronized (FACTORY) {
      reader = FACTORY.createXMLStreamReader(new ByteArrayInputStream(xml), "UTF-8");
    }
    try {
      return new Reader(reader).read();
    } finally {
      reader.close();
    }
  }

  private static final class Reader {
    private final XMLStreamReader xml;
    private final List<Found> items = new ArrayList<>();
    private List<Pair> pairs = new ArrayList<>();
    private boolean inAttribute;
    private String itemName = "";
    private String attributeName = "";
    private String code = "";
    private String message = "";
    private Optional<String> token = Optional.empty();

    Reader(XMLStreamReader xml) {
      this.xml = xml;
    }

    Reply read() throws XMLStreamException {
      while (xml.hasNext()) {
        int event = xml.next();
        if (event == XMLStreamConstants.START_ELEMENT) {
          start(xml.getLocalName());
        } else if (event == XMLStreamConstants.END_ELEMENT) {
          end(xml.getLocalName());
        }
      }
      if (!pairs.isEmpty()) {
        items.add(new Found("", pairs));
      }
      return new Reply(items, token, code, message);
    }

    private void start(String element) throws XMLStreamException {
      switch (element) {
        case "Attribute" -> inAttribute = true;
        case "Name" -> {
          String name = text();
          if (inAttribute) {
            attributeName = name;
          } else {
            itemName = name;
          }
        }
        case "Value" -> pairs.add(new Pair(attributeName, text()));
        case "NextToken" -> token = Optional.of(text());
        case "Code" -> code = text();
        case "Message" -> message = text();
        default -> {
          // not needed
        }
      }
    }

    private void end(String element) {
      if (element.equals("Attribute")) {
        inAttribute = false;
      } else if (element.equals("Item")) {
        items.add(new Found(itemName, pairs));
        pairs = new ArrayList<>();
      }
    }

    /** Reads a text, which is base64 if XML cannot hold it. */
    private String text() throws XMLStreamException {
      boolean encoded = "base64".equals(xml.getAttributeValue(null, "encoding"));
      String text = xml.getElementText();
      return encoded
          ? new String(Base64.getMimeDecoder().decode(text), StandardCharsets.UTF_8)
          : text;
    }
  }
}
