package dev.quipu.server.cli.hold;

import dev.quipu.Add;
import dev.quipu.Bounds;
import dev.quipu.Outcome;
import dev.quipu.QuipuException;
import dev.quipu.RequestId;
import dev.quipu.TransactionResult;
import dev.quipu.server.cli.access.Access;
import dev.quipu.server.cli.access.AccessCommand;
import dev.quipu.server.cli.output.ExitCode;
import dev.quipu.server.cli.output.Output;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Moves an amount from one counter to another. */
@Command(
    name = "transfer",
    description = {
      "Move an amount from one counter to another: both change, or neither.",
      "",
      "Prints value and name of each changed counter, one per line."
    },
    footer = {
      "",
      "Exit code 3: rejected; nothing changed.",
      "",
      "Examples:",
      "  quipu transfer account/ann account/bob 5 --id order-981",
      "  quipu transfer account/ann account/bob 5 --add account/ann=-1 --add fees=1"
    })
public final class TransferCommand extends AccessCommand {
  @Mixin private StoreOption store = new StoreOption();

  @Parameters(paramLabel = "FROM", description = "The counter that is reduced.")
  private String from = "";

  @Parameters(paramLabel = "TO", description = "The counter that is increased.")
  private String to = "";

  @Parameters(paramLabel = "AMOUNT", description = "The amount; 1 or more.")
  private long amount;

  @Option(
      names = "--floor",
      paramLabel = "N",
      description = "Reject the transfer if FROM would go below this (default 0).")
  private long floor;

  @Option(
      names = "--ceiling",
      paramLabel = "N",
      description = "Reject the transfer if TO would go above this.")
  private long ceiling = Long.MAX_VALUE;

  @Option(
      names = "--add",
      split = ",",
      paramLabel = "NAME=DELTA",
      description = "Also add to another counter, such as a fee; repeatable.")
  private List<String> others = List.of();

  @Option(
      names = "--id",
      paramLabel = "ID",
      description = "The request id: repeated transfers count exactly once (default: random).")
  private @Nullable String id;

  @Override
  public Integer call() {
    if (amount < 1) {
      throw new IllegalArgumentException(
          "AMOUNT is %d; the minimum is 1. To move in the other direction, swap FROM and TO"
              .formatted(amount));
    }
    if (from.equals(to)) {
      throw new IllegalArgumentException("FROM and TO are the same counter, %s".formatted(from));
    }
    List<Add> adds = adds();
    String given = id;
    RequestId request = given == null ? RequestId.random() : RequestId.of(given);
    try (Access access = store.open(target, false)) {
      return print(target.attempts().repeat(() -> access.transactions().commit(request, adds)));
    } catch (QuipuException e) {
      if (e.outcome() == Outcome.UNKNOWN) {
        output.requestId(request.text());
      }
      throw e;
    }
  }

  /** Returns the adds; those to one counter are combined. */
  private List<Add> adds() {
    Map<String, Long> deltas = new LinkedHashMap<>();
    deltas.merge(from, -amount, Math::addExact);
    deltas.merge(to, amount, Math::addExact);
    for (String each : others) {
      deltas.merge(Texts.name("--add", each), Texts.delta("--add", each), Math::addExact);
    }
    List<Add> adds = new ArrayList<>();
    deltas.forEach((name, delta) -> {
      long least = name.equals(from) ? floor : Long.MIN_VALUE;
      long most = name.equals(to) ? ceiling : Long.MAX_VALUE;
      adds.add(new Add(name, delta, new Bounds(least, most), null));
    });
    return adds;
  }

  private int print(TransactionResult result) {
    return switch (result) {
      case TransactionResult.Applied applied -> {
        List<Map<String, Object>> adds = new ArrayList<>();
        StringBuilder text = new StringBuilder();
        for (TransactionResult.Added each : applied.adds()) {
          Map<String, Object> members =
              Output.members("counter", each.counter(), "value", Long.toString(each.value()));
          members.put("added", Long.toString(each.added()));
          adds.add(members);
          text.append(text.isEmpty() ? "" : System.lineSeparator());
          text.append(each.value()).append('\t').append(each.counter());
          text.append(applied.isReplayed() ? "\t(replayed)" : "");
        }
        output.print(
            text.toString(), Output.members("adds", adds, "replayed", applied.isReplayed()));
        yield ExitCode.OK;
      }
      case TransactionResult.Rejected rejected ->
          Texts.rejected(output, rejected.counter(), rejected.why(), rejected.valueIfKnown());
      case TransactionResult.Conflict conflict -> Texts.conflict(output);
    };
  }
}
