package dev.quipu.server.cli.serve;

import dev.quipu.server.cli.output.Explanation;
import dev.quipu.server.cli.settings.Variables;
import dev.quipu.time.Clock;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * {@code quipu serve} without options, or with {@code --data} and {@code --http} only: the model of
 * the command line takes as long as the rest of the start. Whatever is out of the ordinary, such as
 * another option, another form of these, or an invalid value, is left to the model.
 */
public final class PlainServe {
  private static final String DATA = "--data";
  private static final String HTTP = "--http";
  private static final Set<String> READ_BY_SERVE = Set.of("QUIPU_TOKEN", "QUIPU_SESSION_KEY");
  private static final Pattern PORT = Pattern.compile("[0-9]{1,5}");

  /** When the process started: this class is loaded among the first. */
  private static final long STARTED_NANOS = Clock.system().nanoTime();

  private PlainServe() {}

  /** Runs the command, and returns its exit code; empty if the arguments are not the plain ones. */
  public static OptionalInt run(Map<String, String> environment, String... arguments) {
    Optional<ServeCommand> command =
        Variables.hasOther(environment, READ_BY_SERVE) ? Optional.empty() : command(arguments);
    if (command.isEmpty()) {
      return OptionalInt.empty();
    }
    try {
      return OptionalInt.of(command.get().call());
    } catch (Exception e) {
      Explanation why = Explanation.of(e);
      System.err.println(why.message());
      return OptionalInt.of(why.exitCode());
    }
  }

  /** Returns the command that the model of the command line would return, if it can. */
  static Optional<ServeCommand> command(String... arguments) {
    boolean hasPairs = arguments.length % 2 == 1;
    if (!hasPairs || !arguments[0].equals("serve")) {
      return Optional.empty();
    }
    Map<String, String> options = new HashMap<>();
    for (int i = 1; i < arguments.length; i += 2) {
      boolean isPlain =
          Set.of(DATA, HTTP).contains(arguments[i])
              && isPlainValue(arguments[i + 1])
              && options.put(arguments[i], arguments[i + 1]) == null;
      if (!isPlain) {
        return Optional.empty();
      }
    }
    Optional<String> port = Optional.ofNullable(options.get(HTTP));
    if (port.isPresent() && !PORT.matcher(port.get()).matches()) {
      return Optional.empty();
    }
    ServeCommand command = new ServeCommand(STARTED_NANOS, System.err::println);
    try {
      Optional.ofNullable(options.get(DATA)).map(Path::of).ifPresent(command::onData);
    } catch (InvalidPathException e) {
      return Optional.empty();
    }
    port.map(Integer::valueOf).ifPresent(command::onHttp);
    return Optional.of(command);
  }

  /** Returns whether a value can be neither an option nor a file of arguments. */
  private static boolean isPlainValue(String value) {
    return !value.isEmpty() && !value.startsWith("-") && !value.startsWith("@");
  }
}
