package dev.quipu.server.http.route;

import dev.quipu.lock.Locks;
import dev.quipu.sequence.RangeJob;
import dev.quipu.sequence.RangeJobs;
import dev.quipu.server.http.message.Exchange;
import dev.quipu.server.http.message.HttpReply;
import dev.quipu.server.http.message.JsonBody;
import dev.quipu.server.http.message.Problem;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;

/** Serves jobs over ranges of numbers over HTTP: the client holds the handle of its task. */
record JobRoutes(Supplier<RangeJobs> jobs) {
  private static final long LEASE_SECONDS = 60;

  /** PUT /v1/jobs/{name} */
  HttpReply open(Exchange exchange) {
    JsonBody body = exchange.json(Set.of("last", "ranges"));
    int ranges = Math.clamp(body.number("ranges"), -1, RangeJob.RANGES_MAX + 1);
    return progress(exchange, jobs.get().open(exchange.variable(), body.number("last"), ranges));
  }

  /** GET /v1/jobs/{name} */
  HttpReply read(Exchange exchange) {
    exchange.allowParameters(Set.of());
    return progress(exchange, job(exchange));
  }

  private static HttpReply progress(Exchange exchange, RangeJob job) {
    long processed = job.processed();
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("name", exchange.variable());
    members.put("last", Long.toString(job.last()));
    members.put("ranges", job.ranges());
    members.put("processed", Long.toString(processed));
    members.put("done", processed == job.last());
    return HttpReply.json(200, members);
  }

  private RangeJob job(Exchange exchange) {
    String name = exchange.variable();
    return jobs.get()
        .find(name)
        .orElseThrow(() ->
            Problem.notFound("no job %s; create it with PUT, last and ranges".formatted(name)));
  }

  /** POST /v1/jobs/{name}/take: without a task if none is free. */
  HttpReply take(Exchange exchange) {
    JsonBody body = exchange.json(Set.of("leaseSeconds"));
    Duration lease = lease(body);
    RangeJob job = job(exchange);
    Optional<RangeJob.Task> task = job.take(lease);
    if (task.isPresent()) {
      return reply(exchange, task.get(), true);
    }
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("name", exchange.variable());
    members.put("done", job.isDone());
    return HttpReply.json(200, members);
  }

  private static Duration lease(JsonBody body) {
    long seconds = body.optionalNumber("leaseSeconds").orElse(LEASE_SECONDS);
    if (seconds < 1 || seconds > Locks.LEASE_MAX.toSeconds()) {
      throw Problem.badRequest(
          "leaseSeconds is %d; it must be from 1 to %d"
              .formatted(seconds, Locks.LEASE_MAX.toSeconds()));
    }
    return Duration.ofSeconds(seconds);
  }

  /** POST /v1/jobs/{name}/done: without a next number if the task is finished or lost. */
  HttpReply done(Exchange exchange) {
    JsonBody body = exchange.json(Set.of("task", "number", "leaseSeconds"));
    RangeJob.Task task = job(exchange).resume(body.text("task"));
    long number = body.number("number");
    long next = task.next().orElse(task.last() + 1);
    if (number > next) {
      throw Problem.badRequest(
          "number is %d; the next number of the task is %d".formatted(number, next));
    }
    boolean isHeld = task.renew(lease(body));
    boolean isOwn = number == next && task.done(List.of());
    return reply(exchange, task, isHeld && isOwn);
  }

  private static HttpReply reply(Exchange exchange, RangeJob.Task task, boolean goesOn) {
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("name", exchange.variable());
    members.put("task", task.handle());
    if (goesOn && task.next().isPresent()) {
      members.put("next", Long.toString(task.next().getAsLong()));
      members.put("last", Long.toString(task.last()));
      members.put("requestId", task.request().text());
    }
    return HttpReply.json(200, members);
  }

  /** POST /v1/jobs/{name}/release */
  HttpReply release(Exchange exchange) {
    RangeJob job = job(exchange);
    RangeJob.Task task = job.resume(exchange.json(Set.of("task")).text("task"));
    task.close();
    return progress(exchange, job);
  }
}
