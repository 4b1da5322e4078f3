package dev.quipu.server;

/** A client in {@code clients/}, and a defect: a new request id for each attempt. */
enum ClientLanguage {
  TYPESCRIPT(
      "quipu.js",
      "{ ...this.#headers, ...headers }",
      "{ ...this.#headers, ...headers, 'Idempotency-Key': newId() }"),
  PYTHON(
      "quipu.py",
      "{**self._headers, **headers}",
      "{**self._headers, **headers, \"Idempotency-Key\": uuid.uuid4().hex}");

  final String file;
  final String headers;
  final String headersWithNewId;

  ClientLanguage(String file, String headers, String headersWithNewId) {
    this.file = file;
    this.headers = headers;
    this.headersWithNewId = headersWithNewId;
  }
}
