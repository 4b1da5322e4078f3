package dev.quipu.simpledb;

import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** A client of SimpleDB that knows nothing of ours. Its own repeats are off. */
interface ForeignClient extends AutoCloseable {
  JsonMapper JSON = new JsonMapper();

  /**
   * One call, in the words of the service's model.
   *
   * @return {@code result} as the client understood it, or {@code code} and {@code status} of the
   *     error
   */
  JsonNode call(String action, JsonNode parameters) throws Exception;

  @Override
  void close();
}
