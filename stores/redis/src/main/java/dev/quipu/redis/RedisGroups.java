package dev.quipu.redis;

import dev.quipu.NotAppliedException;
import dev.quipu.Reason;
import dev.quipu.store.Item;
import dev.quipu.store.Item.Field;
import dev.quipu.store.Key;
import dev.quipu.store.Write;
import dev.quipu.store.WriteResult;
import dev.quipu.store.group.Group;
import dev.quipu.store.group.GroupCommit;
import dev.quipu.store.group.Member;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;

/** Executes groups of adds by one call of the script, which decides each add in order. */
final class RedisGroups implements GroupCommit.Table {
  private static final int FIELDS_MAX = 1_000; // Lua unpacks up to 8,000 values

  private final RedisDriver driver;
  private final boolean combines;

  RedisGroups(RedisDriver driver, boolean combines) {
    this.driver = driver;
    this.combines = combines;
  }

  @Override
  public boolean accepts(Member member) {
    return combines && member.marker().map(RedisGroups::isFlat).orElse(true);
  }

  /** Returns whether the script can store the item by one command. */
  private static boolean isFlat(Write.Put marker) {
    return marker.fields().size() <= FIELDS_MAX
        && marker.fields().values().stream().noneMatch(Field.Tokens.class::isInstance);
  }

  @Override
  public WriteResult alone(List<Write> writes) {
    return driver.alone(writes);
  }

  @Override
  public List<Optional<WriteResult>> write(Group group) {
    List<Object> answer = driver.group(group);
    String result = (String) answer.getFirst();
    return switch (result) {
      case "done" ->
          ItemHash.afterWrite(() ->
              results(
                  group,
                  ItemHash.item(group.key(), (List<?>) answer.get(1)),
                  answer.subList(2, answer.size()).iterator()));
      case "type" ->
          throw new NotAppliedException(
              Reason.CORRUPT, "Redis: the value of %s is not a number".formatted(group.key()));
      default -> throw driver.failures().ofSteps((String) answer.get(1), result.equals("torn"));
    };
  }

  private static List<Optional<WriteResult>> results(
      Group group, Optional<Item> last, Iterator<Object> replies) {
    List<Optional<WriteResult>> results = new ArrayList<>(group.members().size());
    for (Member each : group.members()) {
      results.add(Optional.of(result(group.key(), each, last, replies)));
    }
    return results;
  }

  private static WriteResult result(
      Key number, Member member, Optional<Item> last, Iterator<Object> replies) {
    String reply = (String) replies.next();
    String value = reply.substring(1);
    return switch (reply.charAt(0)) {
      case 'a' -> new WriteResult.Applied(last.map(item -> Group.at(item, Long.parseLong(value))));
      case 'u' ->
          new WriteResult.ConditionFailed(
              number,
              value.isEmpty()
                  ? Optional.empty()
                  : last.map(item -> Group.at(item, Long.parseLong(value))));
      default -> {
        Key marker = member.markerKey().orElseThrow();
        yield new WriteResult.ConditionFailed(
            marker, ItemHash.item(marker, (List<?>) replies.next()));
      }
    };
  }
}
