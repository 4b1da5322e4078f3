package dev.quipu.server.cli;

import dev.quipu.sequence.NumberedRecord;
import dev.quipu.sequence.SequenceOfRecords;
import dev.quipu.server.cli.access.Access;
import dev.quipu.server.cli.access.AccessCommand;
import dev.quipu.server.cli.output.ExitCode;
import dev.quipu.server.cli.output.Output;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Reads the records of a series. */
@Command(
    name = "sequence",
    description = {
      "Print the number of records of a series, or records by number.",
      "",
      "A record is printed as its number, a tab, and its payload; in a payload, a",
      "backslash, tab or line break is printed as \\\\, \\t, \\n or \\r."
    },
    footer = {
      "",
      "Examples:",
      "  quipu sequence invoices/2027",
      "  quipu sequence invoices/2027 --from 101 --limit 100"
    })
final class SequenceCommand extends AccessCommand {
  @Parameters(paramLabel = "SERIES", description = "The series.")
  private String series = "";

  @Option(
      names = "--from",
      paramLabel = "N",
      description = "Print records, from this number (with --limit: default 1).")
  private @Nullable Long from;

  @Option(
      names = "--limit",
      paramLabel = "N",
      description = "Print at most this number of records (with --from: default all).")
  private @Nullable Long limit;

  @Override
  public Integer call() {
    long first = from == null ? 1 : from;
    long most = limit == null ? Long.MAX_VALUE : limit;
    if (first < 1 || most < 1) {
      throw new IllegalArgumentException(
          "--from is %d and --limit is %d; the minimum is 1".formatted(first, most));
    }
    try (Access access = target.openToRead()) {
      if (from == null && limit == null) {
        String last = Long.toString(access.sequences().last(series));
        output.print(last, Output.members("name", series, "last", last));
        return ExitCode.OK;
      }
      while (most > 0) {
        int size = (int) Math.min(most, SequenceOfRecords.PAGE_MAX);
        List<NumberedRecord> page = access.sequences().page(series, first, size);
        output.together(() -> page.forEach(this::print));
        first += size;
        most = page.size() < size ? 0 : most - size;
      }
    }
    return ExitCode.OK;
  }

  private void print(NumberedRecord record) {
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("name", series);
    members.put("number", Long.toString(record.number()));
    members.put("payload", record.payload());
    members.put("at", record.at().toString());
    record.voided().ifPresent(reason -> members.put("voided", reason));
    String payload = Output.oneLine(record.payload());
    String text = record.number() + "\t" + payload;
    output.print(text + record.voided().map(reason -> "\t(voided)").orElse(""), members);
  }
}
