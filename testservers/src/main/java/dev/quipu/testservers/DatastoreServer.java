package dev.quipu.testservers;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Google's emulator of Datastore, in a separate process. It is part of the Cloud SDK, which a build
 * cannot install; alternatively, DATASTORE_EMULATOR_HOST names a running one.
 */
public final class DatastoreServer implements AutoCloseable {
  private static final String JAR = "platform/cloud-datastore-emulator/CloudDatastore.jar";

  private final int port;
  private final Optional<ServerProcess> process;

  private DatastoreServer(int port, Optional<ServerProcess> process) {
    this.port = port;
    this.process = process;
  }

  /**
   * Starts an emulator in the current mode: strongly consistent queries, one entity per group.
   *
   * @return empty if it is not installed
   */
  public static Optional<DatastoreServer> start() {
    String running = System.getenv("DATASTORE_EMULATOR_HOST");
    if (running != null) {
      int port = Integer.parseInt(running.substring(running.lastIndexOf(':') + 1));
      return Optional.of(new DatastoreServer(port, Optional.empty()));
    }
    return jar().map(DatastoreServer::start);
  }

  private static DatastoreServer start(Path jar) {
    int port = ServerProcess.freePort();
    List<String> command =
        List.of(
            ClassPaths.java(),
            "-Xmx256m",
            ClassPaths.SHORT_LIVED,
            "-cp",
            jar.toString(),
            "com.google.cloud.datastore.emulator.CloudDatastore",
            "start",
            "--host=127.0.0.1",
            "--port=" + port,
            "--store_on_disk=false",
            "--store_index_configuration_on_disk=false",
            "--firestore_in_datastore_mode",
            "--testing");
    return new DatastoreServer(port, Optional.of(ServerProcess.start(command, Map.of(), port)));
  }

  /** Finds the emulator beside the SDK's command, or in the default directory. */
  private static Optional<Path> jar() {
    String path = Optional.ofNullable(System.getenv("PATH")).orElse("");
    Stream<Path> besideGcloud =
        Stream.of(path.split(File.pathSeparator, -1))
            .map(each -> Path.of(each, "gcloud"))
            .filter(Files::isExecutable)
            .flatMap(DatastoreServer::root);
    Stream<Path> named =
        Stream.of("CLOUDSDK_ROOT_DIR", "CLOUD_SDK_ROOT")
            .flatMap(each -> Optional.ofNullable(System.getenv(each)).stream())
            .map(Path::of);
    return Stream.concat(named, besideGcloud)
        .map(root -> root.resolve(JAR))
        .filter(Files::isRegularFile)
        .findFirst();
  }

  /** Returns ROOT of {@code ROOT/bin/gcloud}, after resolving links. */
  private static Stream<Path> root(Path gcloud) {
    try {
      return Stream.of(gcloud.toRealPath().resolveSibling("..").normalize());
    } catch (IOException e) {
      return Stream.empty();
    }
  }

  /** Returns its port on 127.0.0.1. */
  public int port() {
    return port;
  }

  @Override
  public void close() {
    process.ifPresent(ServerProcess::close);
  }
}
