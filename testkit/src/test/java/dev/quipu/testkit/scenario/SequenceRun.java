package dev.quipu.testkit.scenario;

import dev.quipu.RequestId;
import dev.quipu.sequence.NumberedRecord;
import dev.quipu.sequence.SequenceOfRecords;
import dev.quipu.sequence.SequenceWithGaps;
import dev.quipu.simulation.steps.LinkFaults;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** One seed of two series: records that are numbered without gaps, and numbers with gaps. */
final class SequenceRun {
  private static final String SERIES = "series";
  private static final int OPERATIONS = 220;
  private static final int BLOCK = 5;

  /** A request for a number, and what is known about it. */
  private static final class Request {
    final String payload;
    final @Nullable RequestId id;
    long number; // 0 while it is unknown
    boolean wasFirst;

    Request(String payload, @Nullable RequestId id) {
      this.payload = payload;
      this.id = id;
    }
  }

  private final World world;
  private final List<Request> requests = new ArrayList<>();
  private final Set<Long> drawn = new HashSet<>();
  private int operations;

  private SequenceRun(long seed, World.Limit limit) {
    this.world = new World(seed, LinkFaults.ALL.repeating(0.01), Duration.ofMinutes(5), limit);
  }

  /** Runs a seed; returns the violations. */
  static List<String> run(long seed, World.Limit limit) {
    SequenceRun run = new SequenceRun(seed, limit);
    return run.world.checked(run::run);
  }

  private void run() {
    for (int i = 0; i < 3; i++) {
      SequenceOfRecords[] records = new SequenceOfRecords[1];
      SequenceWithGaps[] numbers = new SequenceWithGaps[1];
      world.process(
          3,
          store -> {
            records[0] = new SequenceOfRecords(store, world.random);
            numbers[0] = new SequenceWithGaps(store, BLOCK);
          },
          () -> client(records[0], numbers[0]));
    }
    world.run();
    world.calmly(store -> settle(new SequenceOfRecords(store, world.random)));
  }

  private void client(SequenceOfRecords records, SequenceWithGaps numbers) {
    while (operations++ < OPERATIONS && world.violations.isEmpty()) {
      int kind = world.random.nextInt(100);
      World.quietly(() -> {
        if (kind < 20) {
          long number = numbers.next(SERIES);
          world.check(drawn.add(number), "%d is drawn twice", number);
        } else if (kind < 30) {
          read(records);
        } else {
          add(records, kind < 65 || requests.isEmpty() ? newRequest() : anyRequest());
        }
      });
    }
  }

  private Request newRequest() {
    int number = requests.size();
    RequestId id = world.random.nextInt(4) == 0 ? null : RequestId.of("request-" + number);
    Request request = new Request("payload-" + number, id);
    requests.add(request);
    return request;
  }

  private Request anyRequest() {
    Request any = requests.get(world.random.nextInt(requests.size()));
    return any.id == null ? newRequest() : any;
  }

  private void add(SequenceOfRecords records, Request request) {
    long known = request.number;
    SequenceOfRecords.Result result = records.add(SERIES, request.payload, request.id);
    switch (result) {
      case SequenceOfRecords.Numbered numbered -> {
        long now = request.number;
        world.check(
            now == 0 || now == numbered.number(),
            "%s has %d and %d",
            request.payload,
            now,
            numbered.number());
        world.check(
            numbered.replayed() || (known == 0 && !request.wasFirst),
            "%s is numbered again",
            request.payload);
        request.wasFirst |= !numbered.replayed();
        request.number = numbered.number();
        Optional<NumberedRecord> found = records.find(SERIES, request.number);
        world.check(
            found.isPresent() && found.get().payload().equals(request.payload),
            "%s has %d, where %s is",
            request.payload,
            request.number,
            found);
      }
      case SequenceOfRecords.Conflict conflict ->
          world.violation("%s: %s", request.payload, conflict);
    }
  }

  private void read(SequenceOfRecords records) {
    long least = requests.stream().mapToLong(each -> each.number).max().orElse(0);
    long last = records.last(SERIES);
    world.check(last >= least, "the last is %d, and %d was given", last, least);
  }

  private void settle(SequenceOfRecords records) {
    for (Request each : List.copyOf(requests)) {
      if (each.id != null) {
        add(records, each);
      }
    }
    Map<Long, NumberedRecord> stored = new HashMap<>();
    long last = records.last(SERIES);
    for (long number = 1; number <= last; number++) {
      Optional<NumberedRecord> record = records.find(SERIES, number);
      world.check(record.isPresent(), "%d is a gap, the last is %d", number, last);
      if (record.isPresent()) {
        stored.put(number, record.get());
      }
    }
    Set<String> payloads = new HashSet<>();
    for (NumberedRecord each : stored.values()) {
      world.check(payloads.add(each.payload()), "%s has two numbers", each.payload());
    }
    for (Request each : requests) {
      world.check(
          each.number == 0
              || Objects.equals(
                  Optional.ofNullable(stored.get(each.number)).map(NumberedRecord::payload),
                  Optional.of(each.payload)),
          "%s had number %d",
          each.payload,
          each.number);
    }
  }
}
