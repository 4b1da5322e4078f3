package dev.quipu.server.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.quipu.Quipu;
import dev.quipu.server.ToolProcess;
import dev.quipu.server.http.route.Services;
import dev.quipu.testservers.Tool;
import dev.quipu.time.Clock;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests {@code views.js} in Node, as pages run it: {@code src/test/browser/page.mjs}. */
final class ViewsScriptTest {
  private static final String PAGE = "/v1/views?url=blog.example/article";
  private static final HttpOptions OPTIONS =
      HttpOptions.defaults()
          .at("127.0.0.1", 0, Optional.empty(), false)
          .forPagesOf(Set.of("https://blog.example"));

  @TempDir Path directory;

  @SuppressWarnings("NullAway.Init") // JUnit sets the directory
  ViewsScriptTest() {}

  /** The run of a page: a line for each timer and each request, and the number of views. */
  private record Seen(List<String> lines, String views) {
    /** The body of a request. */
    String body(int line) {
      return lines.get(line).replaceFirst("send \\d+ ", "");
    }

    /** The lines without the bodies. */
    List<String> events() {
      return lines.stream().map(line -> line.replaceFirst(" \\{.*", "")).toList();
    }

    /** The lines that are the same in every correct run. */
    String summary() {
      long clients =
          lines.stream()
              .filter(each -> each.contains("clientId"))
              .map(ViewsScriptTest::client)
              .distinct()
              .count();
      return "%s of %d clients, %s views".formatted(events(), clients, views);
    }
  }

  /** Opens pages, as described in the comment of the script. */
  private Seen open(String setup) throws Exception {
    return open(OPTIONS, 0, setup);
  }

  /** Opens pages while the first calls to the store fail. */
  private Seen open(HttpOptions options, int callsThatFail, String setup) throws Exception {
    Optional<String> node = Tool.find("node");
    assumeTrue(node.isPresent(), "no node on this machine: ./dev deps installs it");
    String script = Path.of("src/test/browser/page.mjs").toAbsolutePath().toString();
    FailingViews views = new FailingViews(callsThatFail);
    try (Quipu quipu = Quipu.builder().directory(directory).build();
        HttpServer server =
            HttpServer.start(
                options,
                Services.of(quipu, "test").counting(views.counter(), Optional.empty()),
                Clock.system())) {
      String address = "http://127.0.0.1:" + server.address().getPort();
      List<String> command =
          List.of(node.orElseThrow(), script, address, setup.replace("SERVER", address));
      try (ToolProcess process = ToolProcess.start(directory, command)) {
        List<String> lines = List.copyOf(process.await(0));
        views.heal();
        Client.Reply count = new Client(server.address()).get(PAGE);
        return new Seen(lines, count.status() == 404 ? "none" : count.text("value"));
      }
    }
  }

  @Test
  void aPageThatStaysOpenForFiveSecondsIsOneView() throws Exception {
    Seen seen = open("{}");
    assertEquals(List.of("wait 5000", "send 202"), seen.events());
    assertEquals("1", seen.views);
    String body =
        "\\{\"url\":\"blog\\.example/article\",\"time\":\"20\\d\\d-[0-9T:.-]*Z\","
            + "\"clientId\":\"[0-9a-f]{32}\"\\}";
    assertTrue(seen.body(1).matches(body), seen.body(1));
  }

  @ParameterizedTest
  @CsvSource({"12,12000", "0.5,500", "0,0", "soon,5000", "-1,5000", "3000000,5000"})
  void theDelayIsAnAttribute(String seconds, String millis) throws Exception {
    Seen seen = open("{\"attributes\": {\"data-wait\": \"%s\"}}".formatted(seconds));
    assertEquals(List.of("wait " + millis, "send 202"), seen.events());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "\"navigator\": {\"doNotTrack\": \"1\"}",
        "\"window\": {\"doNotTrack\": \"1\"}",
        "\"navigator\": {\"globalPrivacyControl\": true}",
        "\"navigator\": {\"webdriver\": true}",
        "\"navigator\": {\"userAgent\": \"Mozilla/5.0 (compatible; Googlebot/2.1)\"}"
      })
  void doNotTrackAndRobotsAreNotViews(String browser) throws Exception {
    Seen seen = open("{" + browser + "}");
    assertEquals(List.of(), seen.lines);
    assertEquals("none", seen.views);
  }

  @Test
  void allowedTrackingIsAView() throws Exception {
    assertEquals("1", open("{\"navigator\": {\"doNotTrack\": \"0\"}}").views);
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aClientIsTheSameOnAllPagesIfTheBrowserStoresIt(boolean storage) throws Exception {
    Seen seen = open("{\"pages\": 2, \"storage\": " + storage + "}");
    assertEquals(List.of("wait 5000", "send 202", "wait 5000", "send 202"), seen.events());
    String first = client(seen.body(1));
    if (storage) {
      assertEquals(first, client(seen.body(3)));
    } else {
      assertNotEquals(first, client(seen.body(3)));
    }
  }

  private static String client(String body) {
    return body.replaceFirst(".*\"clientId\":", "");
  }

  @Test
  void aRequestIsRetriedAfterALostReplyAndCountsOnce() throws Exception {
    Seen seen = open("{\"lost\": 2}");
    assertEquals(
        List.of("wait 5000", "send 202", "wait 1000", "send 202", "wait 2000", "send 202"),
        seen.events());
    assertEquals(seen.body(1), seen.body(3));
    assertEquals(seen.body(1), seen.body(5));
    assertEquals("1", seen.views);
  }

  @Test
  void aRequestIsRetriedAfterAServerErrorAndTheTimeThatTheServerStates() throws Exception {
    Seen seen = open(OPTIONS, 2, "{}");
    assertEquals(
        List.of("wait 5000", "send 503", "wait 2000", "send 503", "wait 3000", "send 202"),
        seen.events());
    assertEquals(seen.body(1), seen.body(5));
    assertEquals("1", seen.views);
  }

  @Test
  void aRequestIsRetriedAfterTooManyRequests() throws Exception {
    Seen seen = open("{\"replies\": [[429, \"20\"], [429, null]]}");
    assertEquals(
        List.of("wait 5000", "send 429", "wait 21000", "send 429", "wait 2000", "send 202"),
        seen.events());
    assertEquals("1", seen.views);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {"Wed, 21 Oct 2015 07:28:00 GMT|1000", "soon|1000", "-5|1000", "3600|3601000"})
  void datesAndMalformedTimesAreAcceptedAsRetryAfter(String retryAfter, String wait)
      throws Exception {
    Seen seen = open("{\"replies\": [[503, \"%s\"]]}".formatted(retryAfter));
    assertEquals(List.of("wait 5000", "send 503", "wait " + wait, "send 202"), seen.events());
  }

  @Test
  void theScriptGivesUpIfTheServerAsksForMoreThanAnHour() throws Exception {
    Seen seen = open("{\"replies\": [[503, \"3601\"]]}");
    assertEquals(List.of("wait 5000", "send 503"), seen.events());
  }

  @Test
  void theScriptGivesUpAfterEightAttempts() throws Exception {
    Seen seen = open(OPTIONS, Integer.MAX_VALUE, "{}");
    assertEquals(16, seen.lines.size());
    assertEquals("wait 65000", seen.events().get(14));
    assertEquals("send 503", seen.events().getLast());
  }

  @Test
  void aViewThatWaitsForARetryIsSentWhenThePageIsLeft() throws Exception {
    Seen seen = open("{\"lost\": 1, \"leave\": true}");
    assertEquals(List.of("wait 5000", "send 202", "wait 1000", "clear", "send 202"), seen.events());
    assertEquals("1", seen.views);
    assertEquals(List.of("wait 5000", "send 202"), open("{\"leave\": true}").events());
  }

  @Test
  void theServerIsAnAttribute() throws Exception {
    Seen seen =
        open(
            "{\"script\": \"https://static.example/views.js\", \"attributes\": {\"data-origin\": \"SERVER\"}}");
    assertEquals(List.of("wait 5000", "send 202"), seen.events());
    assertEquals("1", seen.views);
  }

  @ParameterizedTest
  @ValueSource(strings = {"localhost:8080", "counts.example", "//counts.example"})
  void nothingIsSentToAMalformedServer(String origin) throws Exception {
    Seen seen =
        open(
            "{\"script\": \"https://static.example/views.js\", \"attributes\": {\"data-origin\": \"%s\"}}"
                .formatted(origin));
    assertEquals(List.of(), seen.events());
  }

  @Test
  void aRequestIsNotRetriedIfTheSiteIsUnknown() throws Exception {
    Seen seen = open(OPTIONS.forPagesOf(Set.of("https://other.example")), 0, "{}");
    assertEquals(List.of("wait 5000", "send 403"), seen.events());
    assertEquals("none", seen.views);
  }

  /** The same pages with a defective script: the tests above would fail. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '~',
      value = {
        "navigator.doNotTrack === '1' | false       | \"navigator\": {\"doNotTrack\": \"1\"}",
        "navigator.webdriver          | false       | \"navigator\": {\"webdriver\": true}",
        "body: event                  | body: '{}'  | \"pages\": 1",
        "setItem('quipu-client'       | setItem('x' | \"pages\": 2",
        "waitMillis());               | 0);         | \"pages\": 1",
        "response.status >= 500       | true        | \"pages\": 1",
        "ATTEMPTS_MAX = 8             | ATTEMPTS_MAX = 1 | \"lost\": 1",
        "status === 429               | false       | \"replies\": [[429, null]]",
        "clearTimeout(timer)          | return      | \"lost\": 1, \"leave\": true"
      })
  void aDefectiveScriptIsDetected(String from, String to, String setup) throws Exception {
    String replaced = "\"replace\": [\"%s\", \"%s\"]".formatted(from, to);
    assertNotEquals(
        open("{" + setup + "}").summary(), open("{" + setup + ", " + replaced + "}").summary());
  }
}
