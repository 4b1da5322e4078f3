package dev.quipu.server.cli.hold;

import dev.quipu.Add;
import dev.quipu.AddResult;
import dev.quipu.Decimal;
import dev.quipu.Outcome;
import dev.quipu.QuipuException;
import dev.quipu.RequestId;
import dev.quipu.TransactionResult;
import dev.quipu.server.cli.access.Access;
import dev.quipu.server.cli.access.AccessCommand;
import dev.quipu.server.cli.output.ExitCode;
import dev.quipu.server.cli.output.Output;
import dev.quipu.server.cli.output.Rejections;
import java.math.BigDecimal;
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

  @Parameters(paramLabel = "AMOUNT", description = "The amount; more than 0.")
  private Decimal amount = new Decimal(0, 0);

  @Option(
      names = "--floor",
      paramLabel = "N",
      description = "Reject the transfer if FROM would go below this (default 0).")
  private Decimal floor = new Decimal(0, 0);

  @Option(
      names = "--ceiling",
      paramLabel = "N",
      description = "Reject the transfer if TO would go above this.")
  private @Nullable Decimal ceiling;

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
    if (amount.units() <= 0) {
      throw new IllegalArgumentException(
          "AMOUNT is %s; it must be more than 0. To move in the other direction, swap FROM and TO"
              .formatted(amount));
    }
    if (from.equals(to)) {
      throw new IllegalArgumentException("FROM and TO are the same counter, %s".formatted(from));
    }
    List<Add> adds = adds();
    String given = id;
    RequestId request = given == null ? RequestId.random() : RequestId.of(given);
    try (Access access = store.open(target, false)) {
      return print(
          request,
          adds,
          target.attempts().repeat(() -> access.transactions().commit(request, adds)));
    } catch (QuipuException e) {
      if (e.outcome() == Outcome.UNKNOWN) {
        output.requestId(request.text());
      }
      throw e;
    }
  }

  /** Returns the adds; those to one counter are combined. */
  private List<Add> adds() {
    Map<String, BigDecimal> deltas = new LinkedHashMap<>();
    deltas.merge(from, amount.toBigDecimal().negate(), BigDecimal::add);
    deltas.merge(to, amount.toBigDecimal(), BigDecimal::add);
    for (String each : others) {
      String name = Texts.name("--add", each);
      deltas.merge(name, Texts.delta("--add", each).toBigDecimal(), BigDecimal::add);
    }
    List<Add> adds = new ArrayList<>();
    deltas.forEach((name, sum) -> {
      Decimal delta = Decimal.of("the amount of " + name, sum);
      Decimal least = name.equals(from) ? floor : null;
      Decimal most = name.equals(to) ? ceiling : null;
      adds.add(Add.of(name, delta, least, most, null));
    });
    return adds;
  }

  private int print(RequestId request, List<Add> sent, TransactionResult result) {
    return switch (result) {
      case TransactionResult.Applied applied -> {
        List<Map<String, Object>> adds = new ArrayList<>();
        StringBuilder text = new StringBuilder();
        for (TransactionResult.Added each : applied.adds()) {
          String value = Decimal.text(each.value(), each.scale());
          Map<String, Object> members = Output.members("counter", each.counter(), "value", value);
          members.put("added", Decimal.text(each.added(), each.scale()));
          adds.add(members);
          text.append(text.isEmpty() ? "" : System.lineSeparator());
          text.append(value).append('\t').append(each.counter());
          text.append(applied.isReplayed() ? "\t(replayed)" : "");
        }
        output.print(
            text.toString(), Output.members("adds", adds, "replayed", applied.isReplayed()));
        yield ExitCode.OK;
      }
      case TransactionResult.Rejected rejected ->
          new Rejections(output, request)
              .print(
                  sent,
                  rejected.counter(),
                  new AddResult.Rejected(
                      rejected.why(), rejected.valueIfKnown(), List.of(), rejected.scale()));
      case TransactionResult.Conflict conflict ->
          new Rejections(output, request).conflict(new LinkedHashMap<>());
    };
  }
}
