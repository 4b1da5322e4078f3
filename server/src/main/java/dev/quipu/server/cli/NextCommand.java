package dev.quipu.server.cli;

import dev.quipu.Limits;
import dev.quipu.Outcome;
import dev.quipu.QuipuException;
import dev.quipu.RequestId;
import dev.quipu.sequence.SequenceOfRecords;
import dev.quipu.server.cli.access.Access;
import dev.quipu.server.cli.access.AccessCommand;
import dev.quipu.server.cli.output.ExitCode;
import dev.quipu.server.cli.output.Output;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Stores a record under the next number of a series. */
@Command(
    name = "next",
    description = {
      "Store a record under the next number of a series, and print the number.",
      "",
      "Each series starts at 1 and has no gaps."
    },
    footer = {
      "",
      "Exit code 3: the request id was used for a different payload.",
      "",
      "Example:",
      "  quipu next invoices/2027 --payload order-981 --id order-981"
    })
final class NextCommand extends AccessCommand {
  @Parameters(paramLabel = "SERIES", description = "The series.")
  private String series = "";

  @Option(
      names = "--payload",
      paramLabel = "TEXT",
      description = "The text to store with the number.")
  private String payload = "";

  @Option(
      names = "--id",
      paramLabel = "ID",
      description =
          "The request id: a repeat with the same id has the same number (default: random).")
  private @Nullable String id;

  @Override
  public Integer call() {
    int bytes = Limits.utf8Length(payload);
    if (bytes > SequenceOfRecords.PAYLOAD_BYTES_MAX) {
      throw new IllegalArgumentException(
          "payload is %d bytes long; the limit is %d"
              .formatted(bytes, SequenceOfRecords.PAYLOAD_BYTES_MAX));
    }
    String given = id;
    RequestId request = given == null ? RequestId.random() : RequestId.of(given);
    try (Access access = target.open()) {
      return print(
          target.attempts().repeat(() -> access.sequences().next(series, payload, request)));
    } catch (QuipuException e) {
      if (e.outcome() == Outcome.UNKNOWN) {
        output.requestId(request.text());
      }
      throw e;
    }
  }

  private int print(SequenceOfRecords.Result result) {
    return switch (result) {
      case SequenceOfRecords.Numbered numbered -> {
        Map<String, Object> members = new LinkedHashMap<>();
        members.put("name", series);
        members.put("number", Long.toString(numbered.number()));
        members.put("replayed", numbered.replayed());
        String text = Long.toString(numbered.number());
        output.print(numbered.replayed() ? text + " (replayed)" : text, members);
        yield ExitCode.OK;
      }
      case SequenceOfRecords.Conflict conflict -> {
        output.print(
            "rejected (conflict): the request id was used for a different payload",
            Output.members("name", series, "rejected", "conflict"));
        yield ExitCode.REJECTED;
      }
    };
  }
}
