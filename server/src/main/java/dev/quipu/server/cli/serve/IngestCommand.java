package dev.quipu.server.cli.serve;

import dev.quipu.ingest.SqsClients;
import dev.quipu.ingest.SqsConsumer;
import dev.quipu.ingest.SqsOptions;
import dev.quipu.layer.Store;
import dev.quipu.layer.StoreWatch;
import dev.quipu.layer.Sweeper;
import dev.quipu.record.RecordGuard;
import dev.quipu.server.cli.access.OpenedStore;
import dev.quipu.server.cli.input.Stopping;
import dev.quipu.server.cli.output.CommandGroup;
import dev.quipu.server.cli.output.ExitCode;
import dev.quipu.server.cli.output.LogOption;
import dev.quipu.server.cli.output.Output;
import dev.quipu.time.Clock;
import dev.quipu.view.ViewCounter;
import dev.quipu.view.ViewOptions;
import java.net.URI;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;
import software.amazon.awssdk.services.sqs.SqsClient;

/** Counts views from queues. */
@Command(
    name = "ingest",
    description = "Count views from a queue, each exactly once, until stopped.",
    subcommands = IngestCommand.SqsCommand.class,
    synopsisSubcommandLabel = "sqs")
public final class IngestCommand extends CommandGroup {
  @Command(
      name = "sqs",
      mixinStandardHelpOptions = true,
      description = "Count views from an SQS queue.",
      footer = {
        "",
        "Messages are view events as JSON, {\"url\",\"time\",\"clientId\"}, bare or",
        "as the data of a CloudEvent 1.0. A message is deleted when its view is",
        "durable; a malformed one goes to the dead-letter queue with the reason.",
        "Credentials come from the default provider chain of the AWS SDK.",
        "",
        "Example:",
        "  quipu ingest sqs --store dynamodb://eu-west-1/counters --keep 7d \\",
        "    --queue https://sqs.eu-west-1.amazonaws.com/123456789012/views"
      })
  static final class SqsCommand implements Callable<Integer> {
    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private CommandSpec command;

    @Option(names = "--queue", paramLabel = "URL", required = true, description = "The queue.")
    private URI queue = URI.create("");

    @Option(
        names = "--store",
        paramLabel = "URI",
        required = true,
        description = "The store (quipu stores lists them; engine:DIR for the engine).")
    private String store = "";

    @Option(
        names = "--dead-letter",
        paramLabel = "URL",
        description =
            "Move malformed messages to this queue, with the reason (default: leave them to the"
                + " redrive policy of the queue).")
    private @Nullable URI deadLetter;

    @Option(
        names = "--pollers",
        paramLabel = "N",
        description =
            "Number of concurrent receives of ten messages, 1 to 256 (default ${DEFAULT-VALUE}).")
    private int pollers = 4;

    @Option(
        names = "--visibility",
        paramLabel = "TIME",
        description = "Visibility timeout of received messages, 1s to 12h (default 30s).")
    private Duration visibility = Duration.ofSeconds(30);

    @Mixin private ViewFlags views = new ViewFlags();

    @Mixin private LogOption log = new LogOption();

    @Override
    public Integer call() {
      log.use();
      SqsOptions options =
          new SqsOptions(
              queue, Optional.ofNullable(deadLetter), pollers, visibility, SqsOptions.WAIT_MAX);
      ViewOptions counting = views.options();
      SqsClient client = SqsClients.of(queue, 2 * pollers);
      OpenedStore opened = OpenedStore.of(store);
      Store counted = opened.store();
      StoreWatch watch;
      try {
        RecordGuard.requireOneRegion(counted);
        watch = new StoreWatch(counted);
      } catch (RuntimeException e) {
        client.close();
        opened.close();
        throw e;
      }
      SqsConsumer consumer =
          new SqsConsumer(client, options, new ViewCounter(counted, counting), Clock.system());
      Sweeper sweeper = new Sweeper(counted);
      Stopping.await(
          () -> note("quipu is ready: queue %s, store %s".formatted(queue, opened.name())),
          () -> {
            consumer.close();
            sweeper.close();
            watch.close();
            client.close();
            opened.close();
            note(summary(consumer.statistics()));
          });
      return ExitCode.OK;
    }

    private void note(String text) {
      Output.note(command.commandLine(), text);
    }

    private static String summary(SqsConsumer.Statistics done) {
      return "quipu counted %d views; %d deliveries were repeats, %d were malformed, %d failed"
          .formatted(done.counted(), done.countedBefore(), done.malformed(), done.failed());
    }
  }
}
