package dev.quipu.simpledb;

import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreProfile;
import dev.quipu.store.StoreProvider;
import dev.quipu.store.StoreUri;
import dev.quipu.time.Clock;
import java.net.URI;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Opens {@code simpledb://REGION/DOMAIN,DOMAIN?hits=DOMAIN,DOMAIN&summaries=DOMAIN}. */
public final class SimpleDbProvider implements StoreProvider {
  private static final String DOMAIN = "quipu";
  private static final String HITS = "hits";
  private static final String SUMMARIES = "summaries";

  /** Creates the provider; for the service loader. */
  public SimpleDbProvider() {}

  @Override
  public List<String> schemes() {
    return List.of("simpledb");
  }

  @Override
  public String usage() {
    return "simpledb://KEY:SECRET@REGION/DOMAIN,DOMAIN?endpoint=URL&hits=DOMAIN&summaries=DOMAIN;"
        + " without a key, that of"
        + " AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN";
  }

  @Override
  public StoreProfile fullProfile() {
    return SimpleDbDriver.PROFILE;
  }

  private static StoreUri parse(URI uri) {
    return new StoreUri(uri, 443, Set.of("endpoint", HITS, SUMMARIES));
  }

  private static SimpleDbDomains domains(StoreUri uri) {
    List<String> others = domains(uri.path().isEmpty() ? DOMAIN : uri.path());
    return new SimpleDbDomains(
        others,
        uri.parameter(HITS).map(SimpleDbProvider::domains).orElse(others),
        uri.parameter(SUMMARIES).map(SimpleDbProvider::domains).orElse(others));
  }

  private static List<String> domains(String text) {
    List<String> domains = List.of(text.split(",", -1));
    for (String domain : domains) {
      if (!domain.matches("[A-Za-z0-9_.-]{3,255}")) {
        throw new IllegalArgumentException(
            "domain is '%s'; it must be 3 to 255 letters, digits, '_', '-' or '.'"
                .formatted(domain));
      }
    }
    if (domains.stream().distinct().count() < domains.size()) {
      throw new IllegalArgumentException("duplicate domain in the store's URI");
    }
    return domains;
  }

  @Override
  public String schema(URI uri) {
    StoreUri parsed = parse(uri);
    StringBuilder commands = new StringBuilder();
    for (String domain : domains(parsed).all()) {
      commands.append(
          "aws sdb create-domain --region %s --domain-name %s%n"
              .formatted(parsed.host().name(), domain));
    }
    return commands.toString();
  }

  @Override
  public StoreDriver open(URI uri) {
    StoreUri parsed = parse(uri);
    SimpleDbDomains domains = domains(parsed);
    URI endpoint =
        parsed
            .parameter("endpoint")
            .map(URI::create)
            .orElseGet(() -> SimpleDbClient.endpointOf(parsed.host().name()));
    SimpleDbClient client =
        new SimpleDbClient(endpoint, credentials(parsed), parsed.timeout(), Clock.system());
    SimpleDbDriver driver = SimpleDbDriver.open(client, domains, client::close);
    try {
      driver.createDomains();
      return driver;
    } catch (RuntimeException e) {
      driver.close();
      throw e;
    }
  }

  private static SimpleDbClient.Credentials credentials(StoreUri uri) {
    if (uri.user().isPresent()) {
      return new SimpleDbClient.Credentials(
          uri.user().get(), uri.password().orElse(""), Optional.empty());
    }
    return new SimpleDbClient.Credentials(
        environment("AWS_ACCESS_KEY_ID"),
        environment("AWS_SECRET_ACCESS_KEY"),
        Optional.ofNullable(System.getenv("AWS_SESSION_TOKEN")));
  }

  private static String environment(String name) {
    String value = System.getenv(name);
    if (value == null) {
      throw new IllegalArgumentException(
          "credentials are missing: set %s, or write KEY:SECRET@REGION in the store's URI"
              .formatted(name));
    }
    return value;
  }
}
