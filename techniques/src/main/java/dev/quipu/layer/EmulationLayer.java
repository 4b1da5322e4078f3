package dev.quipu.layer;

import dev.quipu.store.Condition;
import dev.quipu.store.Item;
import dev.quipu.store.Item.Version;
import dev.quipu.store.Key;
import dev.quipu.store.StoreDriver.Consistency;
import dev.quipu.store.StoreProfile;
import dev.quipu.store.StoreProfile.Capability;
import dev.quipu.store.Write;
import dev.quipu.store.Write.Change;
import dev.quipu.store.WriteResult;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;

/**
 * Emulates operations that the driver lacks. Without {@link Capability#NATIVE_UPDATE} it reads the
 * item and replaces it if unchanged; without {@link Capability#NATIVE_TOKENS} it makes one
 * conditional write per token.
 */
final class EmulationLayer extends Layer {
  private final ExpiryLayer expiry;
  private final StoreProfile profile;

  EmulationLayer(ExpiryLayer expiry, StoreProfile profile) {
    super(expiry);
    this.expiry = expiry;
    this.profile = profile;
  }

  @Override
  public WriteResult write(Write write) {
    return isNative(write) ? super.write(write) : emulate(write);
  }

  @Override
  public void addTokens(Key key, String field, Set<String> tokens) {
    if (profile.has(Capability.NATIVE_TOKENS)) {
      super.addTokens(key, field, tokens);
    } else {
      change(key, tokens, token -> new Change.AddToken(field, token));
    }
  }

  @Override
  public void dropTokens(Key key, String field, Set<String> tokens) {
    if (profile.has(Capability.NATIVE_TOKENS)) {
      super.dropTokens(key, field, tokens);
    } else {
      change(key, tokens, token -> new Change.DropToken(field, token));
    }
  }

  private void change(Key key, Set<String> tokens, Function<String, Change> change) {
    for (String token : tokens) {
      write(new Write.Update(key, List.of(change.apply(token)), Condition.always()));
    }
  }

  private boolean isNative(Write write) {
    return !(write instanceof Write.Update update)
        || profile.has(Capability.NATIVE_UPDATE)
        || (profile.has(Capability.NATIVE_ADD) && update.isLoneAdd());
  }

  /**
   * Reads the item, computes its new state, and stores that if the item is unchanged; else retries.
   */
  private WriteResult emulate(Write write) {
    RetryLayer driver = expiry.below();
    RetryPolicy.Attempts attempts = driver.contention();
    while (true) {
      Optional<Item> found = driver.get(write.key(), Consistency.STRONG);
      Optional<Item> alive = expiry.alive(found);
      if (!(write.applyTo(alive, new Version("")) instanceof Write.Effect.Now now)) {
        return new WriteResult.ConditionFailed(write.key(), alive);
      }
      Condition unchanged = Condition.unchanged(found);
      Item after = now.item().orElseThrow(); // an update always leaves an item
      WriteResult result =
          driver.write(new Write.Put(write.key(), after.fields(), after.expiresAt(), unchanged));
      if (result instanceof WriteResult.Applied) {
        return result;
      }
      if (!attempts.again()) {
        throw write.key().contended(attempts.toString());
      }
    }
  }
}
