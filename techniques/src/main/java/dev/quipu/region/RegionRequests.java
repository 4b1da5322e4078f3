package dev.quipu.region;

import dev.quipu.OutcomeUnknownException;
import dev.quipu.QuipuException;
import dev.quipu.Reason;
import dev.quipu.RequestId;
import dev.quipu.store.Item;
import java.util.Optional;

/** Finds the outcomes of requests that count in other regions. */
final class RegionRequests {
  private final Regions regions;
  private final RegionLeases leases;

  RegionRequests(Regions regions, RegionLeases leases) {
    this.regions = regions;
    this.leases = leases;
  }

  /** Returns the region where a request counts: that of its id. */
  String home(String counter, RequestId id) {
    Regions.checkCounter(counter);
    return regions.home(id);
  }

  /** Returns the marker of a request, if it has been replicated to a replica. */
  Optional<Item> in(String place, String counter, RequestId id) {
    return regions.replica(place).get(RegionRows.request(counter, regions.home(id), id));
  }

  /**
   * Returns the marker of a request of another region, if the local replica has it, or if that
   * region was retired.
   *
   * @throws QuipuException with an unknown outcome if that region was retired and no remaining
   *     region has the marker: it may have been lost, while the sum that includes the request
   *     arrived
   */
  Optional<Item> known(String counter, RequestId id) {
    String home = regions.home(id);
    if (home.equals(regions.own())) {
      return Optional.empty();
    }
    Optional<Item> here = in(regions.own(), counter, id);
    return here.isEmpty() && leases.standing().lost().contains(home)
        ? Optional.of(lastCopy(home, counter, id))
        : here;
  }

  private Item lastCopy(String retired, String counter, RequestId id) {
    for (String place : leases.living()) {
      Optional<Optional<Item>> found = regions.ask(place, () -> in(place, counter, id));
      if (found.isEmpty()) {
        throw new OutcomeUnknownException(
            Reason.UNAVAILABLE,
            "region %s does not respond and may know request %s".formatted(place, id),
            null);
      }
      if (found.get().isPresent()) {
        return found.get().get();
      }
    }
    throw new OutcomeUnknownException(
        Reason.DENIED,
        "region %s was retired; unknown whether it had counted request %s, which will never count"
                .formatted(retired, id)
            + " from now on. Send new requests under ids of region "
            + regions.own(),
        null);
  }
}
