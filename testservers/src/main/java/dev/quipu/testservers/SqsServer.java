package dev.quipu.testservers;

import java.net.URI;
import java.util.List;
import java.util.Map;

/** An SQS server (ElasticMQ), in a separate process. */
public final class SqsServer implements AutoCloseable {
  private final int port = ServerProcess.freePort();
  private final ServerProcess process;

  private SqsServer(String classPath) {
    process =
        ServerProcess.start(
            List.of(
                ClassPaths.java(),
                "-Xmx512m",
                ClassPaths.SHORT_LIVED,
                "-Drest-sqs.bind-hostname=127.0.0.1",
                "-Drest-sqs.bind-port=" + port,
                "-Drest-stats.enabled=false",
                "-Dnode-address.host=127.0.0.1",
                "-Dnode-address.port=" + port,
                "-cp",
                classPath,
                "org.elasticmq.server.Main"),
            Map.of(),
            port);
  }

  /** Starts a server. */
  public static SqsServer start() {
    return new SqsServer(
        ClassPaths.of("testservers/elasticmq")
            .orElseThrow(() -> new IllegalStateException("testservers/elasticmq is not built")));
  }

  /** Returns its endpoint. */
  public URI endpoint() {
    return URI.create("http://127.0.0.1:" + port);
  }

  /** Returns the URL of a queue. */
  public URI queue(String name) {
    return endpoint().resolve("/000000000000/" + name);
  }

  @Override
  public void close() {
    process.close();
  }
}
