package dev.quipu.testservers;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** An S3 server (S3Proxy), in a separate process, with its buckets in a directory. */
public final class S3Server implements AutoCloseable {
  /** The variables of a process that uses it. */
  public static final Map<String, String> ENVIRONMENT =
      Map.of(
          "AWS_ACCESS_KEY_ID", "key", "AWS_SECRET_ACCESS_KEY", "secret", "AWS_REGION", "us-east-1");

  private final int port = ServerProcess.freePort();
  private final Path buckets;
  private final ServerProcess process;

  private S3Server(String classPath, Path directory) throws IOException {
    buckets = Files.createDirectories(directory.resolve("buckets"));
    Path properties =
        Files.writeString(
            directory.resolve("s3proxy.properties"),
            """
            s3proxy.authorization=aws-v2-or-v4
            s3proxy.identity=key
            s3proxy.credential=secret
            s3proxy.endpoint=http://127.0.0.1:%d
            jclouds.provider=filesystem-nio2
            jclouds.filesystem.basedir=%s
            """
                .formatted(port, buckets));
    process =
        ServerProcess.start(
            List.of(
                ClassPaths.java(),
                "-Xmx512m",
                ClassPaths.SHORT_LIVED,
                "-cp",
                classPath,
                "org.gaul.s3proxy.Main",
                "--properties",
                properties.toString()),
            Map.of(),
            port);
  }

  /** Starts a server. */
  public static S3Server start(Path directory) {
    try {
      return new S3Server(
          ClassPaths.of("testservers/s3proxy")
              .orElseThrow(() -> new IllegalStateException("testservers/s3proxy is not built")),
          directory);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Creates a bucket; returns its URI for {@code --backup-to}, with a prefix. */
  public String bucket(String name, String prefix) throws IOException {
    Files.createDirectories(bucketDirectory(name));
    return "s3://%s/%s?endpoint=%s".formatted(name, prefix, endpoint());
  }

  /** Returns the directory with the objects of a bucket. */
  public Path bucketDirectory(String name) {
    return buckets.resolve(name);
  }

  /** Returns its endpoint. */
  public URI endpoint() {
    return URI.create("http://127.0.0.1:" + port);
  }

  @Override
  public void close() {
    process.close();
  }
}
