package dev.quipu.server.cli;

import dev.quipu.lock.Locks;
import dev.quipu.server.cli.access.Access;
import dev.quipu.server.cli.access.AccessCommand;
import dev.quipu.server.cli.access.SequenceAccess;
import dev.quipu.server.cli.access.SequenceAccess.Progress;
import dev.quipu.server.cli.access.SequenceAccess.Work;
import dev.quipu.server.cli.output.ExitCode;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Processes the numbers of a job with a command. */
@Command(
    name = "job",
    description = {
      "Run a command for each of the numbers 1 to N, in ranges.",
      "",
      "Any number of workers may run it. Without COMMAND, print how many numbers are",
      "processed.",
      "",
      "In an argument of COMMAND, {} is replaced by the number. The environment has",
      "QUIPU_NUMBER and QUIPU_REQUEST_ID. After the crash of a worker, the command",
      "of its last number runs again, with the same QUIPU_REQUEST_ID. A worker ends",
      "when no range is free."
    },
    footer = {
      "",
      "Exit code 1: COMMAND failed, or exceeded --lease; its number is not processed.",
      "",
      "Examples:",
      "  quipu job mails --last 1000 --ranges 10 -- ./send.sh {}",
      "  quipu job mails"
    })
final class JobCommand extends AccessCommand {
  @Parameters(index = "0", paramLabel = "NAME", description = "The job.")
  private String name = "";

  @Parameters(
      index = "1..*",
      arity = "0..*",
      paramLabel = "COMMAND",
      description = "Run this for each number, after --.")
  private List<String> program = new ArrayList<>();

  @Option(
      names = "--last",
      paramLabel = "N",
      description = "Create the job with this highest number, unless it exists.")
  private @Nullable Long last;

  @Option(
      names = "--ranges",
      paramLabel = "N",
      description = "With --last: divide the job into this number of ranges (default 16).")
  private int ranges = 16;

  @Option(
      names = "--lease",
      paramLabel = "TIME",
      description = "Maximum time of COMMAND; then another worker may continue (default 1m).")
  private Duration lease = Duration.ofMinutes(1);

  @Override
  public Integer call() throws IOException, InterruptedException {
    if (lease.toSeconds() < 1 || lease.compareTo(Locks.LEASE_MAX) > 0) {
      throw new IllegalArgumentException("--lease is %s; it must be 1s to 1d".formatted(lease));
    }
    boolean reads = last == null && program.isEmpty();
    try (Access access = reads ? target.openToRead() : target.open()) {
      SequenceAccess jobs = access.sequences();
      if (last != null) {
        jobs.openJob(name, last, ranges);
      }
      Optional<Progress> before = jobs.progress(name);
      if (before.isEmpty()) {
        output.failed("no such job: " + name + "; create it with --last");
        return ExitCode.FAILED;
      }
      boolean isDone = program.isEmpty() || work(jobs);
      Progress progress = jobs.progress(name).orElse(before.get());
      Map<String, Object> members = new LinkedHashMap<>();
      members.put("name", name);
      members.put("processed", Long.toString(progress.processed()));
      members.put("last", Long.toString(progress.last()));
      output.print("%d of %d".formatted(progress.processed(), progress.last()), members);
      return isDone ? ExitCode.OK : ExitCode.FAILED;
    }
  }

  /** Processes all free ranges; returns false after the first command that failed. */
  private boolean work(SequenceAccess jobs) throws IOException, InterruptedException {
    for (Optional<Work> taken = jobs.take(name, lease);
        taken.isPresent();
        taken = jobs.take(name, lease)) {
      String task = taken.get().task();
      Optional<Work> next = taken;
      while (next.isPresent()) {
        if (!isProcessed(next.get())) {
          jobs.release(name, task);
          return false;
        }
        Work work = next.get();
        next = target.attempts().repeat(() -> jobs.done(name, work, lease));
      }
      jobs.release(name, task);
    }
    return true;
  }

  private boolean isProcessed(Work work) throws IOException, InterruptedException {
    String number = Long.toString(work.number());
    ProcessBuilder builder =
        new ProcessBuilder(program.stream().map(part -> part.replace("{}", number)).toList());
    builder.environment().put("QUIPU_NUMBER", number);
    builder.environment().put("QUIPU_REQUEST_ID", work.requestId());
    Process process = builder.inheritIO().start();
    try {
      if (!process.waitFor(lease.toMillis(), TimeUnit.MILLISECONDS)) {
        output.note("COMMAND exceeded --lease for number " + number);
        return false;
      }
    } finally {
      process.destroyForcibly(); // no effect after its end
    }
    if (process.exitValue() != 0) {
      output.note("COMMAND failed for number %s: exit %d".formatted(number, process.exitValue()));
    }
    return process.exitValue() == 0;
  }
}
