package dev.quipu.spring;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.InputStream;
import java.lang.reflect.RecordComponent;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.springframework.core.io.ClassPathResource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** What editors show for each property: written by Spring's annotation processor in the build. */
final class MetadataTest {
  @Test
  void eachPropertyHasADescription() throws Exception {
    Map<String, String> descriptions = new HashMap<>();
    try (InputStream file =
        new ClassPathResource("META-INF/spring-configuration-metadata.json").getInputStream()) {
      JsonNode metadata = JsonMapper.shared().readTree(file);
      for (JsonNode property : metadata.path("properties")) {
        String name = property.path("name").asString();
        if (name.startsWith("quipu.")) { // others are those of the endpoint
          descriptions.put(name, property.path("description").asString(""));
        }
      }
    }
    RecordComponent[] components =
        Objects.requireNonNull(QuipuProperties.class.getRecordComponents());
    for (RecordComponent component : components) {
      String name = component.getName().replaceAll("([A-Z])", "-$1").toLowerCase(Locale.ROOT);
      assertThat(descriptions.get("quipu." + name)).as(name).isNotBlank().endsWith(".");
    }
    assertThat(descriptions).hasSize(components.length);
  }
}
