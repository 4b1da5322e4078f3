package dev.quipu.simpledb;

import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** A third-party client of SimpleDB. Its retries are off. */
interface ForeignClient extends AutoCloseable {
  JsonMapper JSON = new JsonMapper();

  /**
   * Executes a call, with the names of the service's model.
   *
   * @return {@code result} as parsed by the client, or {@code code} and {@code status} of the error
   */
  JsonNode call(String action, JsonNode parameters) throws Exception;

  @Override
  void close();
}
