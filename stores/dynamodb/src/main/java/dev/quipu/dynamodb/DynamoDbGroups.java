package dev.quipu.dynamodb;

import dev.quipu.Outcome;
import dev.quipu.QuipuException;
import dev.quipu.store.FreshTokens;
import dev.quipu.store.Item;
import dev.quipu.store.Key;
import dev.quipu.store.Write;
import dev.quipu.store.WriteResult;
import dev.quipu.store.group.Group;
import dev.quipu.store.group.GroupCommit;
import dev.quipu.store.group.Member;
import dev.quipu.store.group.Sum;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.CancellationReason;
import software.amazon.awssdk.services.dynamodb.model.TransactWriteItem;
import software.amazon.awssdk.services.dynamodb.model.TransactionCanceledException;

/**
 * Executes groups of adds: with markers, by one TransactWriteItems; without, by one UpdateItem. A
 * group has members of one kind only, since a transaction does not return the value, which an add
 * without a marker must return.
 *
 * <p>If a condition failed, nothing was applied, and DynamoDB reports each item whose condition
 * failed: members whose marker exists, or whose bounds the value violates, leave the group, and the
 * others are sent again.
 */
final class DynamoDbGroups implements GroupCommit.Table {
  /** Maximum number of adds in a group: a transaction has at most 100 items. */
  static final int MEMBERS_MAX = 99;

  private static final int ATTEMPTS_MAX = 4; // then each is executed separately
  private static final String FAILED = "ConditionalCheckFailed";

  private final DynamoDbDriver driver;
  private final DynamoDbClient client;
  private final Requests requests;
  private final Attributes attributes;
  private final FreshTokens tokens;
  private final boolean isMarked;
  private final boolean combines;

  /**
   * Creates the operations on groups of one kind.
   *
   * @param isMarked whether the adds have markers
   */
  DynamoDbGroups(
      DynamoDbDriver driver,
      DynamoDbClient client,
      Requests requests,
      Attributes attributes,
      FreshTokens tokens,
      boolean isMarked,
      boolean combines) {
    this.driver = driver;
    this.client = client;
    this.requests = requests;
    this.attributes = attributes;
    this.tokens = tokens;
    this.isMarked = isMarked;
    this.combines = combines;
  }

  @Override
  public boolean accepts(Member member) {
    return combines && member.marker().isPresent() == isMarked;
  }

  @Override
  public WriteResult alone(List<Write> writes) {
    return isMarked ? driver.transact(writes, null) : driver.writeAlone(writes.getFirst());
  }

  @Override
  public List<Optional<WriteResult>> write(Group group) {
    IdentityHashMap<Member, WriteResult> decided = new IdentityHashMap<>();
    List<Member> left = group.members();
    for (int attempt = 0; attempt < ATTEMPTS_MAX && !left.isEmpty(); attempt++) {
      Group rest = new Group(group.key(), left);
      Optional<Sum> sum = rest.sum();
      if (sum.isEmpty()) {
        break;
      }
      left = isMarked ? transact(rest, sum.get(), decided) : update(rest, sum.get(), decided);
    }
    return group.members().stream().map(each -> Optional.ofNullable(decided.get(each))).toList();
  }

  /** Adds the sum; returns the members to send again. */
  private List<Member> update(Group group, Sum sum, IdentityHashMap<Member, WriteResult> decided) {
    return switch (driver.writeAlone(sum.write(group.key()))) {
      case WriteResult.Applied applied -> {
        List<Optional<WriteResult>> results = group.results(Set.of(), applied.after(), Map.of());
        for (int i = 0; i < results.size(); i++) {
          decided.put(group.members().get(i), results.get(i).orElseThrow());
        }
        yield List.of();
      }
      case WriteResult.ConditionFailed failed -> fitting(group.members(), failed.found());
    };
  }

  /** Stores the markers and adds the sum; returns the members to send again. */
  private List<Member> transact(
      Group group, Sum sum, IdentityHashMap<Member, WriteResult> decided) {
    String call = tokens.next();
    List<TransactWriteItem> items = new ArrayList<>();
    for (Member each : group.members()) {
      Write.Put marker = each.marker().orElseThrow();
      items.add(TransactWriteItem.builder().put(requests.putOfBatch(marker, call)).build());
    }
    Write.Update update = sum.write(group.key());
    items.add(TransactWriteItem.builder().update(requests.updateOfBatch(update, call)).build());
    try {
      client.transactWriteItems(requests.batch(items, null));
      group.members().forEach(each -> decided.put(each, new WriteResult.Applied(Optional.empty())));
      return List.of();
    } catch (TransactionCanceledException e) {
      List<CancellationReason> reasons = e.cancellationReasons();
      if (reasons.size() != items.size() || reasons.stream().noneMatch(DynamoDbGroups::isFailed)) {
        throw Failures.ofCanceled(e);
      }
      return remaining(group, reasons, decided);
    } catch (SdkException e) {
      throw Failures.of(e, Outcome.UNKNOWN);
    }
  }

  private static boolean isFailed(CancellationReason reason) {
    return FAILED.equals(reason.code());
  }

  /** Decides the members whose marker exists; returns the others, if the bounds allow them. */
  private List<Member> remaining(
      Group group, List<CancellationReason> reasons, IdentityHashMap<Member, WriteResult> decided) {
    List<Member> others = new ArrayList<>();
    for (int i = 0; i < group.members().size(); i++) {
      Member each = group.members().get(i);
      if (!isFailed(reasons.get(i))) {
        others.add(each);
        continue;
      }
      Key marker = each.markerKey().orElseThrow();
      Optional<Item> found = item(marker, reasons.get(i).item());
      if (found.isPresent()) { // otherwise it is executed separately, and reports why
        decided.put(each, new WriteResult.ConditionFailed(marker, found));
      }
    }
    return isFailed(reasons.getLast())
        ? fitting(others, item(group.key(), reasons.getLast().item()))
        : others;
  }

  /** Returns the item that a failed condition found; empty if it is missing or corrupt. */
  private Optional<Item> item(Key key, Map<String, AttributeValue> found) {
    try {
      return attributes.item(key, found);
    } catch (QuipuException e) {
      return Optional.empty();
    }
  }

  /** Returns the members that can be applied, one after another, to the number that was found. */
  private static List<Member> fitting(List<Member> members, Optional<Item> found) {
    long value;
    try {
      value = found.map(item -> item.number(Item.VALUE)).orElse(0L);
    } catch (QuipuException e) { // not a number: each reports it
      return List.of();
    }
    List<Member> fitting = new ArrayList<>();
    for (Member each : members) {
      if (each.sum().allows(value)) {
        value += each.sum().delta();
        fitting.add(each);
      }
    }
    return fitting;
  }
}
