package dev.quipu.testkit.scenario;

import dev.quipu.layer.Store;
import dev.quipu.presence.Online;
import dev.quipu.presence.Presence;
import dev.quipu.simulation.steps.LinkFaults;
import dev.quipu.store.Scan;
import dev.quipu.store.ScanDriver;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import java.util.random.RandomGenerator;

/** Clients that are seen, and readers that count them. */
final class OnlineRun extends SharedRun<Presence> {
  private static final String ROOM = "room";
  private static final int CLIENTS = 8;
  private static final Duration SWEPT = Duration.ofMinutes(1);

  private final Duration window;
  private final List<Hit> hits = new ArrayList<>();
  private boolean wasComplete;

  /** One hit, by the clock of the process that requested it. */
  private static final class Hit {
    final int client;
    final Instant at;
    boolean isAnswered;

    Hit(int client, Instant at) {
      this.client = client;
      this.at = at;
    }
  }

  OnlineRun(long seed, LinkFaults faults, Duration skew, Duration window, Opener opener) {
    this(new World(seed, faults, skew, World.Limit.NONE), window, opener);
  }

  private OnlineRun(World world, Duration window, Opener opener) {
    super(world, window, store -> opener.open(store, world.random));
    this.window = window;
  }

  /** Opens presence in a process. */
  interface Opener {
    Presence open(Store store, RandomGenerator random);
  }

  @Override
  void operation(Client<Presence> client) {
    int kind = random.nextInt(100);
    if (kind < 65) {
      Hit hit = new Hit(random.nextInt(CLIENTS), client.now());
      hits.add(hit);
      client.own().seen(ROOM, "client " + hit.client);
      hit.isAnswered = true;
    } else if (kind < 95) {
      read(client);
    } else {
      client.store().removeExpired(SWEPT, 1_000);
    }
  }

  private long distinct(List<Hit> some, Online online, Predicate<Hit> which) {
    return some.stream()
        .filter(which)
        .filter(hit -> !hit.at.isBefore(online.from()) && hit.at.isBefore(online.until()))
        .map(hit -> hit.client)
        .distinct()
        .count();
  }

  private Online read(Client<Presence> client) {
    List<Hit> answered = hits.stream().filter(hit -> hit.isAnswered).toList();
    Online online = client.own().online(ROOM);
    boolean isOrdered = online.low() <= online.value() && online.value() <= online.high();
    world.check(isOrdered, "%s is in no order", online);
    long least = distinct(answered, online, hit -> true);
    long most = distinct(hits, online, hit -> true);
    world.check(
        online.low() <= most && online.high() >= least, "%s: %d to %d", online, least, most);
    wasComplete |= online.complete();
    return online;
  }

  @Override
  void settle(Client<Presence> client) {
    Online online = read(client);
    world.check(online.complete(), "%s is not complete", online);
    world.check(wasComplete, "no reading was complete");
    sleep(client, window.multipliedBy(4));
    world.check(read(client).high() == 0, "a client remains");
    client.store().removeExpired(SWEPT, 1_000);
    world.check(
        ScanDriver.of(world.store).scan(Scan.all("online/" + ROOM)).items().isEmpty(),
        "items stay");
  }
}
