import com.google.cloud.tools.jib.api.Containerizer;
import com.google.cloud.tools.jib.api.Jib;
import com.google.cloud.tools.jib.api.JibContainer;
import com.google.cloud.tools.jib.api.TarImage;
import com.google.cloud.tools.jib.api.buildplan.AbsoluteUnixPath;
import com.google.cloud.tools.jib.api.buildplan.FileEntriesLayer;
import com.google.cloud.tools.jib.api.buildplan.FilePermissions;
import com.google.cloud.tools.jib.api.buildplan.ImageFormat;
import com.google.cloud.tools.jib.api.buildplan.Platform;
import com.google.cloud.tools.jib.api.buildplan.Port;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Writes an OCI image as an archive, with Jib, without a daemon or a registry. Each directory below
 * the first one is a layer.
 *
 * <p>Usage: Image LAYERS ARCHIVE VERSION ARCHITECTURE SECONDS ENTRYPOINT...
 */
public final class Image {
  private static final String USER = "10001:10001";

  private Image() {}

  public static void main(String[] args) throws Exception {
    Path layers = Path.of(args[0]);
    String version = args[2];
    Instant created = Instant.ofEpochSecond(Long.parseLong(args[4]));
    var image =
        Jib.fromScratch()
            .setPlatforms(Set.of(new Platform(args[3], "linux")))
            .setFormat(ImageFormat.OCI)
            .setCreationTime(created)
            .setUser(USER)
            .setWorkingDirectory(AbsoluteUnixPath.get("/data"))
            .setVolumes(Set.of(AbsoluteUnixPath.get("/data")))
            .setExposedPorts(Set.of(Port.tcp(7080)))
            .setEntrypoint(List.of(args).subList(5, args.length))
            .setProgramArguments(List.of("serve", "--data", "/data", "--bind", "0.0.0.0"))
            .setLabels(
                Map.of(
                    "org.opencontainers.image.title", "quipu",
                    "org.opencontainers.image.version", version,
                    "org.opencontainers.image.licenses", "Apache-2.0"));
    try (Stream<Path> each = Files.list(layers)) {
      for (Path layer : each.sorted().toList()) {
        image.addFileEntriesLayer(layer(layer, created));
      }
    }
    JibContainer built =
        image.containerize(
            Containerizer.to(TarImage.at(Path.of(args[1])).named("quipu:" + version))
                .setOfflineMode(true)
                .setBaseImageLayersCache(layers.resolveSibling("cache"))
                .setApplicationLayersCache(layers.resolveSibling("cache")));
    System.out.println(built.getDigest());
  }

  private static FileEntriesLayer layer(Path root, Instant created) throws IOException {
    FileEntriesLayer.Builder layer =
        FileEntriesLayer.builder().setName(root.getFileName().toString());
    try (Stream<Path> files = Files.walk(root)) {
      for (Path file : files.filter(each -> !each.equals(root)).sorted().toList()) {
        String mode = PosixFilePermissions.toString(Files.getPosixFilePermissions(file));
        int bits = 0;
        for (char c : mode.toCharArray()) {
          bits = bits << 1 | (c == '-' ? 0 : 1);
        }
        AbsoluteUnixPath at = AbsoluteUnixPath.get("/" + root.relativize(file));
        boolean isWritable = at.toString().equals("/data"); // a new volume has its owner
        layer.addEntry(
            file,
            at,
            FilePermissions.fromOctalString(Integer.toOctalString(bits)),
            created,
            isWritable ? USER : "0:0");
      }
    }
    return layer.build();
  }
}
