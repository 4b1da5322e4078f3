package dev.quipu.server.cli;

import dev.quipu.server.cli.output.ExitCode;
import dev.quipu.server.cli.output.ResultCommand;
import dev.quipu.server.demo.Demo;
import dev.quipu.server.demo.Mishap;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Shows what failures do to techniques. */
@Command(
    name = "demo",
    description = {
      "Show what failures do to techniques, side by side, on a store in memory.",
      "",
      "A line has the action, the number of adds that clients made so far, and what",
      "each technique counted so far, with its error. The same seed gives the same",
      "failures. The page of a server has the same with buttons."
    },
    footer = {
      "",
      "Actions:",
      "  add            one add, without a failure",
      "  drop-reply     the store applies an add, and the reply is lost",
      "  deliver-twice  a queue delivers an add twice",
      "  kill-writer    a writer dies before or after its write",
      "  partition      a region is cut off during five adds",
      "",
      "Techniques: quipu techniques lists them; NAME:give-up does not repeat an add",
      "that got no reply. To one without request ids, each attempt is another add.",
      "",
      "Examples:",
      "  quipu demo",
      "  quipu demo --techniques token-set,item-collection --seed 7 partition kill-writer"
    })
final class DemoCommand extends ResultCommand {
  @Parameters(
      paramLabel = "ACTION",
      arity = "0..*",
      description = "What happens, in this order (default: all, one after the other).")
  private List<String> actions = List.of();

  @Option(
      names = "--techniques",
      split = ",",
      paramLabel = "NAME",
      description = "Compare these (default: atomic-add:give-up, atomic-add, marker-item).")
  private List<String> techniques = Demo.TECHNIQUES;

  @Option(names = "--seed", paramLabel = "N", description = "Decides the failures (default 1).")
  private long seed = 1;

  @Override
  public Integer call() {
    List<Mishap> mishaps =
        actions.isEmpty()
            ? Arrays.asList(Mishap.values())
            : actions.stream().map(Mishap::named).toList();
    List<Demo.Step> steps = Demo.run(seed, techniques, mishaps);
    List<String> head = new ArrayList<>(List.of("ACTION", "TRUE"));
    head.addAll(techniques);
    output.together(() -> {
      if (!output.isJson()) {
        output.printText(String.join("\t", head));
      }
      steps.forEach(this::print);
    });
    return ExitCode.OK;
  }

  private void print(Demo.Step step) {
    List<String> columns =
        new ArrayList<>(List.of(step.mishap().word(), Long.toString(step.truth())));
    Map<String, Object> counts = new LinkedHashMap<>();
    for (Demo.Count each : step.counts()) {
      counts.put(each.technique(), Long.toString(each.value()));
      long error = each.value() - step.truth();
      columns.add(each.value() + (error == 0 ? "" : " (%+d)".formatted(error)));
    }
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("action", step.mishap().word());
    members.put("true", Long.toString(step.truth()));
    members.put("counts", counts);
    output.print(String.join("\t", columns), members);
  }
}
