package dev.quipu.server.http.route;

import dev.quipu.Counters;
import dev.quipu.Limits;
import dev.quipu.hits.HitLog;
import dev.quipu.hits.VersionNode;
import dev.quipu.hits.VersionTree;
import dev.quipu.hits.VersionTrees;
import dev.quipu.region.RegionLeases;
import dev.quipu.server.http.message.Exchange;
import dev.quipu.server.http.message.HttpReply;
import dev.quipu.server.http.message.Problem;
import dev.quipu.shard.StoredParts;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Stream;

/**
 * Serves how a technique stores counters: shards, regions, hits and versions.
 *
 * @param regions returns the regions; empty if there is one
 */
record PartRoutes(Counters counters, Optional<Supplier<List<RegionLeases.Status>>> regions) {
  /** Maximum number of versions in a response. */
  static final int VERSIONS_MAX = 1_000;

  private static final int PART_BYTES = 512;

  /** Returns whether counters have parts. */
  static boolean hasParts(Counters counters) {
    return Stream.of(StoredParts.class, HitLog.class, VersionTree.class)
        .anyMatch(each -> counters.as(each).isPresent());
  }

  /** GET /v1/counters/{name}/parts */
  HttpReply parts(Exchange exchange) {
    exchange.allowParameters(Set.of());
    exchange.reserve((long) VERSIONS_MAX * PART_BYTES);
    String counter = Limits.checkText("name", exchange.variable(), Limits.NAME_BYTES_MAX);
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("name", counter);
    members.put("technique", counters.technique());
    Optional<StoredParts> parts = counters.as(StoredParts.class);
    Optional<HitLog> hits = counters.as(HitLog.class);
    Optional<VersionTree> tree = counters.as(VersionTree.class);
    if (parts.isPresent()) {
      members.put("parts", parts.get().parts(counter).stream().map(PartRoutes::members).toList());
    } else if (hits.isPresent()) {
      members.put("parts", parts(hits.get().stored(counter)));
    } else if (tree.isPresent()) {
      members.put("versions", versions(tree.get().trees(counter)));
    } else {
      throw new UnsupportedOperationException(
          "technique %s stores a counter as a whole; sharded counters, regions, hit-log and version-tree have parts"
              .formatted(counters.technique()));
    }
    if (counters.read(counter).isEmpty()) {
      throw Problem.notFound("no such counter: " + counter);
    }
    return HttpReply.json(200, members);
  }

  private static Map<String, Object> members(StoredParts.Part part) {
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("name", part.name());
    members.put("value", Long.toString(part.value()));
    part.below().ifPresent(most -> members.put("below", Long.toString(most)));
    part.above().ifPresent(most -> members.put("above", Long.toString(most)));
    part.note().ifPresent(note -> members.put("note", note));
    return members;
  }

  private static List<Map<String, Object>> parts(HitLog.Stored stored) {
    String until = stored.end().map(Instant::toString).orElse("never");
    Map<String, Object> summary = new LinkedHashMap<>();
    summary.put("name", "summary until " + until);
    summary.put("value", Long.toString(stored.count()));
    summary.put("note", stored.swept() + " of it from hits that were removed");
    Map<String, Object> later = new LinkedHashMap<>();
    later.put("name", "hits after it");
    later.put("value", Long.toString(stored.sumAfter()));
    later.put("note", "%d hits of %d stored".formatted(stored.hitsAfter(), stored.stored()));
    return List.of(summary, later);
  }

  /** Returns the versions of all items of a counter, up to the maximum. */
  private static List<Map<String, Object>> versions(Map<Integer, VersionTrees> trees) {
    List<Map<String, Object>> all = new ArrayList<>();
    trees.forEach((item, tree) -> {
      for (VersionNode node : tree.nodes()) {
        if (all.size() < VERSIONS_MAX) {
          Map<String, Object> members = new LinkedHashMap<>();
          members.put("item", item);
          members.put("version", node.version().toString());
          node.parent().ifPresent(parent -> members.put("parent", parent.toString()));
          members.put("count", Long.toString(node.count()));
          if (tree.tips().contains(node)) {
            members.put("own", Long.toString(node.own()));
          }
          all.add(members);
        }
      }
    });
    return all;
  }

  /** GET /v1/regions */
  HttpReply regions(Exchange exchange) {
    exchange.allowParameters(Set.of());
    List<RegionLeases.Status> found =
        regions
            .orElseThrow(() ->
                new UnsupportedOperationException(
                    "this server does not count in one of several regions (--topology)"))
            .get();
    return HttpReply.json(200, Map.of("regions", found.stream().map(PartRoutes::members).toList()));
  }

  private static Map<String, Object> members(RegionLeases.Status status) {
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("name", status.region());
    members.put("responds", status.answers());
    status.confirmedUntil().ifPresent(until -> members.put("leaseUntil", until.toString()));
    status.successor().ifPresent(region -> members.put("successor", region));
    status.ended().ifPresent(why -> members.put("ended", why));
    return members;
  }
}
