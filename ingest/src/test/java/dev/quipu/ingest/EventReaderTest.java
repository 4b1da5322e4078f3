package dev.quipu.ingest;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.view.ViewEvent;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Base64;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Events in both formats, and errors for malformed ones. */
final class EventReaderTest {
  private static final String BARE =
      """
      {"url":"myblog.com/article1","time":"2022-03-28T13:17:23+00:00","clientId":"adid"}\
      """;
  private static final ViewEvent EVENT =
      new ViewEvent("myblog.com/article1", Instant.parse("2022-03-28T13:17:23Z"), "adid");

  private static String cloudEvent(String rest) {
    return """
    {"specversion":"1.0","id":"1","source":"/blog","type":"view",%s}\
    """
        .formatted(rest);
  }

  @Test
  void otherFieldsAreIgnored() throws Exception {
    assertEquals(EVENT, EventReader.read(BARE));
    assertEquals(EVENT, EventReader.read(BARE.replace("{", "{\"referrer\":{\"a\":[1]},")));
    assertEquals(EVENT, EventReader.read(SqsQueue.text(EVENT)));
    assertEquals(
        EVENT, EventReader.read(BARE.replace("13:17:23+00:00", "15:17:23+02:00")), "same moment");
  }

  @Test
  void aValueIsOptional() throws Exception {
    ViewEvent read = EVENT.with(42);
    assertEquals(read, EventReader.read(BARE.replace("}", ",\"value\":42}")));
    assertEquals(read, EventReader.read(SqsQueue.text(read)));
    assertEquals(EVENT, EventReader.read(BARE.replace("}", ",\"value\":null}")));
    for (String wrong : new String[] {"-1", "1.5", "\"42\"", "1000000001", "1e400", "[]"}) {
      MalformedEvent thrown =
          assertThrows(
              MalformedEvent.class,
              () -> EventReader.read(BARE.replace("}", ",\"value\":" + wrong + "}")));
      assertEquals("value", thrown.field(), wrong);
    }
  }

  @Test
  void aCloudEventIsReadByItsDataOrItsEnvelope() throws Exception {
    String base64 = Base64.getEncoder().encodeToString(BARE.getBytes(StandardCharsets.UTF_8));
    assertEquals(EVENT, EventReader.read(cloudEvent("\"data\":" + BARE)));
    assertEquals(EVENT, EventReader.read(cloudEvent("\"data_base64\":\"" + base64 + "\"")));
    assertEquals(
        EVENT,
        EventReader.read(
            cloudEvent(
                """
                "subject":"myblog.com/article1","time":"2022-03-28T13:17:23Z",\
                "datacontenttype":"application/json","data":{"clientId":"adid"}\
                """)));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "body|nothing",
        "body|[]",
        "body|",
        "body|{\"url\":\"a\"} {}",
        "body|{\"url\":\"a\",\"url\":\"b\"}",
        "url|{\"time\":\"2022-03-28T13:17:23Z\",\"clientId\":\"c\"}",
        "url|{\"url\":5,\"time\":\"2022-03-28T13:17:23Z\",\"clientId\":\"c\"}",
        "url|{\"url\":\"\",\"time\":\"2022-03-28T13:17:23Z\",\"clientId\":\"c\"}",
        "url|{\"url\":\"a\\u0000\",\"time\":\"2022-03-28T13:17:23Z\",\"clientId\":\"c\"}",
        "time|{\"url\":\"a\",\"clientId\":\"c\"}",
        "time|{\"url\":\"a\",\"time\":\"yesterday\",\"clientId\":\"c\"}",
        "time|{\"url\":\"a\",\"time\":\"2022-02-31T13:17:23Z\",\"clientId\":\"c\"}",
        "clientId|{\"url\":\"a\",\"time\":\"2022-03-28T13:17:23Z\"}",
        "specversion|{\"specversion\":\"0.3\",\"id\":\"1\",\"source\":\"s\",\"type\":\"t\"}",
        "source|{\"specversion\":\"1.0\",\"id\":\"1\",\"type\":\"t\"}",
        "data|{\"specversion\":\"1.0\",\"id\":\"1\",\"source\":\"s\",\"type\":\"t\"}",
        "data|{\"specversion\":\"1.0\",\"id\":\"1\",\"source\":\"s\",\"type\":\"t\",\"data\":\"x\"}",
        "data.url|{\"specversion\":\"1.0\",\"id\":\"1\",\"source\":\"s\",\"type\":\"t\",\"data\":{}}",
        "data_base64|{\"specversion\":\"1.0\",\"id\":\"1\",\"source\":\"s\",\"type\":\"t\","
            + "\"data_base64\":\"!\"}",
      })
  void malformedEventsNameTheField(String field, String text) {
    MalformedEvent e =
        assertThrows(
            MalformedEvent.class, () -> EventReader.read(text == null ? "" : text), () -> field);
    assertEquals(field, e.field(), e.getMessage());
    assertTrue(String.valueOf(e.getMessage()).startsWith(field + ": "), e.getMessage());
  }

  @Test
  void tooLongEventsAreRejected() {
    String url = "x".repeat(2_049);
    MalformedEvent e =
        assertThrows(
            MalformedEvent.class, () -> EventReader.read(BARE.replace("myblog.com/article1", url)));
    assertEquals("url", e.field());
    MalformedEvent body =
        assertThrows(
            MalformedEvent.class,
            () -> EventReader.read(" ".repeat(EventReader.LENGTH_MAX) + BARE));
    assertEquals("body", body.field());
  }
}
