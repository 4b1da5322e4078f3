package dev.quipu.server.cli;

import dev.quipu.server.cli.input.Stopping;
import dev.quipu.server.cli.output.ExitCode;
import dev.quipu.server.cli.output.Output;
import dev.quipu.simpledbserver.SimpleDbFault;
import dev.quipu.simpledbserver.SimpleDbOptions;
import dev.quipu.simpledbserver.SimpleDbServer;
import dev.quipu.time.Clock;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Starts a SimpleDB server for tests. */
@Command(
    name = "simpledb-local",
    description = {
      "Start a SimpleDB server for tests, in memory, on this machine.",
      "",
      "It has the real protocol, limits and errors, and optional replica lag and",
      "write faults."
    },
    footer = {
      "",
      "Faults of writes: unavailable and error-before-apply are not applied;",
      "unavailable-after-apply, error-after-apply and reply-dropped are applied.",
      "",
      "Examples:",
      "  quipu simpledb-local --lag 1s --fault reply-dropped=0.05",
      "  aws sdb list-domains --endpoint-url http://127.0.0.1:8180",
      "  quipu serve --store 'simpledb://key:secret@us-east-1/abc?endpoint=http://127.0.0.1:8180'"
    })
final class SimpleDbLocalCommand implements Callable<Integer> {
  @Spec
  @SuppressWarnings("NullAway.Init") // picocli sets it
  private CommandSpec command;

  @Option(
      names = "--port",
      paramLabel = "PORT",
      description = "Listen on this port of 127.0.0.1 (default ${DEFAULT-VALUE}; 0 picks one).")
  private int port = 8180;

  @Option(
      names = "--access-key",
      paramLabel = "KEY",
      description = "Accept this access key (default ${DEFAULT-VALUE}).")
  private String accessKey = "key";

  @Option(
      names = "--secret-key",
      paramLabel = "SECRET",
      description = "Require signatures with this secret key (default ${DEFAULT-VALUE}).")
  private String secretKey = "secret";

  @Option(
      names = "--lag",
      paramLabel = "TIME",
      description = "Maximum lag of a replica (default 0s).")
  private Duration lag = Duration.ZERO;

  @Option(
      names = "--writes-max",
      paramLabel = "N",
      description = "Answer 503 to further writes to a domain in a second (default: never).")
  private int writesMax = Integer.MAX_VALUE;

  @Option(
      names = "--count-max",
      paramLabel = "N",
      description = "Return a next token after counting this number of items (default: never).")
  private int countMax = Integer.MAX_VALUE;

  @Option(
      names = "--fault",
      split = ",",
      paramLabel = "NAME=RATE",
      description = "Fail this share of the writes, 0 to 1; may be repeated.")
  private Map<String, Double> faults = Map.of();

  @Option(
      names = "--seed",
      paramLabel = "N",
      description = "Seed of the faults (default ${DEFAULT-VALUE}).")
  private long seed = 1;

  @Override
  public Integer call() {
    if (port < 0 || port > 65_535) {
      throw new IllegalArgumentException("--port is " + port + "; it must be from 0 to 65535");
    }
    Map<SimpleDbFault, Double> probabilities = probabilities();
    SimpleDbOptions options =
        new SimpleDbOptions(accessKey, secretKey, lag, writesMax, countMax, seed);
    SimpleDbServer server;
    try {
      server = SimpleDbServer.start(options, Clock.system(), port);
    } catch (UncheckedIOException e) {
      throw new IllegalArgumentException("--port: " + e.getMessage());
    }
    server.use(probabilities);
    String ready =
        "simpledb-local is ready: %s, access key %s".formatted(server.endpoint(), accessKey);
    Stopping.await(() -> Output.note(command.commandLine(), ready), server::close);
    return ExitCode.OK;
  }

  private Map<SimpleDbFault, Double> probabilities() {
    Map<SimpleDbFault, Double> found = new EnumMap<>(SimpleDbFault.class);
    double sum = 0;
    for (Map.Entry<String, Double> each : faults.entrySet()) {
      SimpleDbFault fault = fault(each.getKey());
      if (!(each.getValue() >= 0)) {
        throw new IllegalArgumentException(
            "--fault %s is %s; the minimum is 0".formatted(each.getKey(), each.getValue()));
      }
      sum += each.getValue();
      found.put(fault, each.getValue());
    }
    if (sum > 1) {
      throw new IllegalArgumentException(
          "the rates of --fault add up to %s; the maximum is 1".formatted(sum));
    }
    return found;
  }

  private static SimpleDbFault fault(String word) {
    Map<String, SimpleDbFault> known = new LinkedHashMap<>();
    for (SimpleDbFault fault : SimpleDbFault.values()) {
      known.put(fault.name().toLowerCase(Locale.ROOT).replace('_', '-'), fault);
    }
    if (!known.containsKey(word)) {
      throw new IllegalArgumentException(
          "--fault has unknown fault '%s'; known faults are %s"
              .formatted(word, String.join(", ", known.keySet())));
    }
    return known.get(word);
  }
}
