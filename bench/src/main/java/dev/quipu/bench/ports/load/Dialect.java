package dev.quipu.bench.ports.load;

/** The protocol of a server. */
public enum Dialect {
  /** Quipu on its Redis port. */
  QUIPU,
  /** Redis, which needs scripts where Quipu has commands. */
  REDIS,
  /** {@code incr} of memcached. */
  MEMCACHED,
  /** {@code ma} of memcached, which replies without the value. */
  MEMCACHED_META;

  static final String BOUND = "1000000000000";
  static final String ID_SECONDS = "86400";

  /** Adds within a bound: the counter, the delta and the bound. */
  static final String BOUNDED_SCRIPT =
      """
      local after = tonumber(redis.call('GET', KEYS[1]) or '0') + tonumber(ARGV[1])
      if after > tonumber(ARGV[2]) then return 0 end
      return redis.call('INCRBY', KEYS[1], ARGV[1])
      """;

  /** Adds exactly once: the counter and a marker, the delta and the expiry of the marker. */
  static final String ONCE_SCRIPT =
      """
      if redis.call('SET', KEYS[2], '1', 'NX', 'EX', ARGV[2]) then
        return redis.call('INCRBY', KEYS[1], ARGV[1])
      end
      return 0
      """;

  public boolean isMemcached() {
    return this == MEMCACHED || this == MEMCACHED_META;
  }

  boolean isReply(byte first) {
    return switch (this) {
      case QUIPU, REDIS -> first == ':' || first == '*';
      case MEMCACHED -> first >= '0' && first <= '9';
      case MEMCACHED_META -> first == 'H';
    };
  }

  /** Returns whether a reply means applied: no count is 0 after an add. */
  boolean isApplied(byte first, byte second) {
    return isMemcached() || (first == ':' && second >= '1' && second <= '9');
  }

  /** Returns the request for an add of 1. */
  public Request request(AddKind kind, ControlConnection control) {
    return switch (this) {
      case QUIPU ->
          switch (kind) {
            case PLAIN -> Request.resp("INCR", Request.KEY);
            case BOUNDED -> Request.resp("INCREX", Request.KEY, "BYINT", "1", "UBOUND", BOUND);
            case ONCE -> Request.resp("QUIPU.ADD", Request.KEY, "1", "ID", Request.ID);
          };
      case REDIS ->
          switch (kind) {
            case PLAIN -> Request.resp("INCR", Request.KEY);
            case BOUNDED ->
                Request.resp(
                    "EVALSHA", control.script(BOUNDED_SCRIPT), "1", Request.KEY, "1", BOUND);
            case ONCE ->
                Request.resp(
                    "EVALSHA",
                    control.script(ONCE_SCRIPT),
                    "2",
                    Request.KEY,
                    Request.ID,
                    "1",
                    ID_SECONDS);
          };
      case MEMCACHED -> Request.line("incr " + plain(kind) + " 1");
      case MEMCACHED_META -> Request.line("ma " + plain(kind));
    };
  }

  private static String plain(AddKind kind) {
    if (kind != AddKind.PLAIN) {
      throw new IllegalArgumentException("memcached does not support adds of kind " + kind);
    }
    return Request.KEY;
  }
}
