package dev.quipu.bench.ports.load;

/**
 * The commands that place and settle a hold.
 *
 * @param hold adds 2 to a counter below a ceiling, until it is settled or expires
 * @param settle keeps 1 of it
 * @param replyLines the number of lines of each reply
 */
public record HoldDialect(Request hold, Request settle, int replyLines) {
  private static final String TTL_MILLIS = "600000";

  /**
   * Reserves once: the counter, the hold and the index of holds by expiry; the delta, the ceiling
   * and the time to live. Expired holds are to be released by a sweeper, which uses the index.
   */
  private static final String HOLD_SCRIPT =
      """
      if redis.call('EXISTS', KEYS[2]) == 1 then return 0 end
      local after = tonumber(redis.call('GET', KEYS[1]) or '0') + tonumber(ARGV[1])
      if after > tonumber(ARGV[2]) then return 0 end
      redis.call('INCRBY', KEYS[1], ARGV[1])
      local now = redis.call('TIME')
      local expires = now[1] * 1000 + math.floor(now[2] / 1000) + ARGV[3]
      redis.call('HSET', KEYS[2], 'state', 'open', 'counter', KEYS[1], 'delta', ARGV[1],
          'expires', expires)
      redis.call('ZADD', KEYS[3], expires, KEYS[2])
      return 1
      """;

  /**
   * Settles once: the hold and the index; what is kept, and how long the hold is remembered. The
   * counter is not among the keys, since only the hold knows it: that fails on a cluster.
   */
  private static final String SETTLE_SCRIPT =
      """
      local hold = redis.call('HMGET', KEYS[1], 'state', 'counter', 'delta')
      if hold[1] ~= 'open' then return 0 end
      redis.call('INCRBY', hold[2], ARGV[1] - hold[3])
      redis.call('HSET', KEYS[1], 'state', 'settled', 'kept', ARGV[1])
      redis.call('EXPIRE', KEYS[1], ARGV[2])
      redis.call('ZREM', KEYS[2], KEYS[1])
      return 1
      """;

  /** Returns the commands of Quipu. */
  public static HoldDialect quipu() {
    return new HoldDialect(
        Request.resp(
            "QUIPU.HOLD",
            Request.KEY,
            "2",
            "ID",
            Request.ID,
            "TTL",
            TTL_MILLIS,
            "CEILING",
            Dialect.BOUND),
        Request.resp("QUIPU.SETTLE", Request.ID, "1"),
        6); // an array of 4, of which the first is a text with its length
  }

  /** Loads the scripts of Redis, and returns its commands. */
  public static HoldDialect redis(ControlConnection control) {
    return new HoldDialect(
        Request.resp(
            "EVALSHA",
            control.script(HOLD_SCRIPT),
            "3",
            Request.KEY,
            Request.ID,
            "holds",
            "2",
            Dialect.BOUND,
            TTL_MILLIS),
        Request.resp(
            "EVALSHA",
            control.script(SETTLE_SCRIPT),
            "2",
            Request.ID,
            "holds",
            "1",
            Dialect.ID_SECONDS),
        1);
  }
}
