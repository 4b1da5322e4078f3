package dev.quipu.server.cli.store;

import dev.quipu.NotAppliedException;
import dev.quipu.Reason;
import dev.quipu.engine.backup.Backup;
import dev.quipu.engine.backup.BackupFiles;
import dev.quipu.server.archive.BackupTarget;
import dev.quipu.server.cli.input.Times;
import dev.quipu.server.cli.output.ExitCode;
import dev.quipu.server.cli.output.Output;
import dev.quipu.server.cli.output.ResultCommand;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Commands that back up data directories, and restore backups. */
public final class BackupCommands {
  private BackupCommands() {}

  @Command(
      name = "backup",
      description = "Back up a data directory, also while a server uses it.",
      footer = {
        "",
        "Copies what the backup does not have yet, verifies it, and prints the position",
        "up to which everything is in the backup. A run that fails, or is interrupted,",
        "leaves the backup as it was. Protect it like the data directory.",
        "",
        "Examples:",
        "  quipu backup --data quipu-data --to /mnt/backup",
        "  quipu backup --data quipu-data --to s3://backups/shop?region=eu-west-1",
        "  quipu check --data /mnt/backup"
      })
  public static final class BackupCommand extends ResultCommand {
    @Option(
        names = "--data",
        paramLabel = "DIR",
        required = true,
        description = "The data directory; a server may be using it.")
    private Path data = Path.of("");

    @Option(
        names = "--to",
        paramLabel = "DIR|URI",
        required = true,
        description =
            "The backup of this data directory, or a new or empty directory, or a bucket:"
                + " s3://BUCKET/PREFIX?region=REGION&endpoint=URL.")
    private String target = "";

    @Override
    public Integer call() {
      Backup.Status status;
      try (BackupTarget backup = BackupTarget.open(data, target)) {
        status = backup.run();
      } catch (IOException e) {
        throw new NotAppliedException(
            Reason.UNAVAILABLE, "cannot back up %s to %s: %s".formatted(data, target, e), e);
      }
      print(output, "backed up", target, status.position(), status.commands(), status.time());
      return ExitCode.OK;
    }
  }

  @Command(
      name = "restore",
      description = "Restore a position of a backup to a new data directory.",
      footer = {
        "",
        "'quipu check --data BACKUP' prints the positions that can be restored. A time",
        "restores the last position that was acknowledged until then. Counting on the",
        "restored directory needs a backup of its own: use another --to.",
        "",
        "Examples:",
        "  quipu restore --from /mnt/backup --data restored",
        "  quipu restore --from /mnt/backup --at 2022-03-28T13:17:23Z --data restored"
      })
  public static final class RestoreCommand extends ResultCommand {
    @Option(
        names = "--from",
        paramLabel = "DIR|URI",
        required = true,
        description = "The backup, or its bucket; 'quipu backup' may be continuing it.")
    private String backup = "";

    @Option(
        names = "--at",
        paramLabel = "TIME|POSITION",
        description = "Restore this position, or this time (default: the last position).")
    private @Nullable String at;

    @Option(
        names = "--data",
        paramLabel = "DIR",
        required = true,
        description = "The new data directory, which is missing or empty.")
    private Path data = Path.of("");

    @Override
    public Integer call() {
      BackupFiles.Restored restored =
          BackupTarget.withFiles(backup, data, files -> restore(files, at));
      print(
          output,
          "restored",
          data.toString(),
          restored.position(),
          restored.commands(),
          restored.time());
      return ExitCode.OK;
    }

    private BackupFiles.Restored restore(Path files, @Nullable String at) {
      if (at == null) {
        return BackupFiles.restore(files, data);
      }
      return at.matches("[0-9]{1,18}")
          ? BackupFiles.restore(files, Long.parseLong(at), data)
          : BackupFiles.restore(files, time(at), data);
    }

    private static Instant time(String at) {
      try {
        return Times.time(at);
      } catch (IllegalArgumentException e) {
        throw new IllegalArgumentException(
            "--at is '%s'; use a position, such as 1234, or a time, such as 2022-03-28T13:17:23Z"
                .formatted(at),
            e);
      }
    }
  }

  private static void print(
      Output output, String done, String directory, long position, long commands, Instant time) {
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("directory", directory);
    members.put("position", position);
    members.put("commands", commands);
    members.put("time", time.toString());
    output.print(
        "%s: %s position %d, %d commands, %s".formatted(directory, done, position, commands, time),
        members);
  }
}
