package dev.quipu.server.cli;

import dev.quipu.sequence.Revision;
import dev.quipu.sequence.RevisionLog;
import dev.quipu.server.cli.access.Access;
import dev.quipu.server.cli.access.AccessCommand;
import dev.quipu.server.cli.output.ExitCode;
import dev.quipu.server.cli.output.Output;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Commands about revisions. */
final class RevisionCommands {
  private RevisionCommands() {}

  @Command(
      name = "revise",
      description = {
        "Insert, update or delete an entity, and print the number of entities.",
        "",
        "Every change is a new revision, which holds the number of entities after it."
      },
      footer = {
        "",
        "Exit code 3: the entity to insert exists, or the other does not.",
        "",
        "Examples:",
        "  quipu revise customers insert ann --payload '{\"city\":\"Ulm\"}'",
        "  quipu revise customers delete ann"
      })
  static final class ReviseCommand extends AccessCommand {
    /** The kinds, as on the command line. */
    enum Kind {
      insert,
      update,
      delete
    }

    @Parameters(index = "0", paramLabel = "SERIES", description = "The series.")
    private String series = "";

    @Parameters(
        index = "1",
        paramLabel = "KIND",
        description = "The change: ${COMPLETION-CANDIDATES}.")
    private Kind kind = Kind.insert;

    @Parameters(index = "2", paramLabel = "ENTITY", description = "The entity.")
    private String entity = "";

    @Option(
        names = "--payload",
        paramLabel = "TEXT",
        description = "The content of the entity (default: empty).")
    private String payload = "";

    @Override
    public Integer call() {
      try (Access access = target.open()) {
        Revision.Kind change = Revision.Kind.valueOf(kind.name().toUpperCase(Locale.ROOT));
        RevisionLog.Result result = access.sequences().revise(series, entity, change, payload);
        String count = Long.toString(result.count());
        return switch (result) {
          case RevisionLog.Written written -> {
            Map<String, Object> members = new LinkedHashMap<>();
            members.put("name", series);
            members.put("number", Long.toString(written.number()));
            members.put("count", count);
            output.print(count, members);
            yield ExitCode.OK;
          }
          case RevisionLog.Rejected rejected -> {
            String why = rejected.isThere() ? "exists" : "does not exist";
            output.print(
                "rejected: %s %s".formatted(entity, why),
                Output.members("name", series, "rejected", why));
            yield ExitCode.REJECTED;
          }
        };
      }
    }
  }

  @Command(
      name = "revisions",
      description = "Print the number of entities of a series, or the content of one entity.",
      footer = {"", "Examples:", "  quipu revisions customers", "  quipu revisions customers ann"})
  static final class RevisionsCommand extends AccessCommand {
    @Parameters(index = "0", paramLabel = "SERIES", description = "The series.")
    private String series = "";

    @Parameters(
        index = "1",
        arity = "0..1",
        paramLabel = "ENTITY",
        description = "Print the content of this entity.")
    private @Nullable String entity;

    @Override
    public Integer call() {
      try (Access access = target.openToRead()) {
        if (entity == null) {
          String count = Long.toString(access.sequences().count(series));
          output.print(count, Output.members("name", series, "count", count));
          return ExitCode.OK;
        }
        Optional<Revision> found = access.sequences().current(series, entity);
        if (found.isEmpty()) {
          output.failed("no such entity: " + entity);
          return ExitCode.FAILED;
        }
        Map<String, Object> members = new LinkedHashMap<>();
        members.put("name", series);
        members.put("entity", entity);
        members.put("number", Long.toString(found.get().number()));
        members.put("payload", found.get().payload());
        members.put("at", found.get().at().toString());
        output.print(Output.oneLine(found.get().payload()), members);
        return ExitCode.OK;
      }
    }
  }
}
