package dev.quipu.postgresql;

import dev.quipu.store.Condition;
import dev.quipu.store.Item;
import dev.quipu.store.Item.Field;
import dev.quipu.store.Item.Version;
import dev.quipu.store.Key;
import dev.quipu.store.Scan;
import dev.quipu.store.Write;
import dev.quipu.store.Write.Change;
import dev.quipu.store.group.Sum;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Compiles writes to SQL. A statement applies a write if its condition holds, and returns the row.
 * Otherwise, also if a field has another type than the write needs, it returns no row: the caller
 * then reads the item and evaluates the condition.
 */
final class Statements {
  private static final String COLUMNS = "value, fields, version, expires_at";

  private final Schema schema;
  private final String nextVersion;

  Statements(Schema schema) {
    this.schema = schema;
    this.nextVersion = "nextval('" + schema.versions() + "')";
  }

  Sql read(List<Key> keys) {
    List<@Nullable Object> parameters = new ArrayList<>();
    List<Schema.StoredKey> stored = keys.stream().map(Schema.StoredKey::of).toList();
    stored.forEach(key -> Collections.addAll(parameters, key.partition(), key.sort()));
    String places = String.join(", ", Collections.nCopies(keys.size(), "(?, ?)"));
    return new Sql(
        "SELECT partition, sort, %s FROM %s WHERE (partition, sort) IN (%s)"
            .formatted(COLUMNS, schema.table(), places),
        parameters);
  }

  Sql removeExpired(Instant before, int itemsMax) {
    return new Sql(
        ("DELETE FROM %1$s WHERE (partition, sort) IN (SELECT partition, sort FROM %1$s"
                + " WHERE expires_at <= ? LIMIT ? FOR UPDATE SKIP LOCKED)")
            .formatted(schema.table()),
        List.of(before.toEpochMilli(), itemsMax));
  }

  /** Selects one row more than the page has, which shows whether there is another page. */
  Sql scan(Scan scan) {
    List<@Nullable Object> parameters = new ArrayList<>();
    Collections.addAll(parameters, Schema.storedPartition(scan.partition()), scan.from());
    scan.until().ifPresent(parameters::add);
    return new Sql(
        "SELECT sort, %s FROM %s WHERE partition = ? AND sort >= ? %s ORDER BY sort %s LIMIT %d"
            .formatted(
                COLUMNS,
                schema.table(),
                scan.until().isPresent() ? "AND sort < ?" : "",
                scan.descending() ? "DESC" : "ASC",
                scan.itemsMax() + 1),
        parameters);
  }

  /** Adds to the value, if the current value is within the bounds of the sum. */
  Sql add(Key key, Sum sum) {
    Builder sql = new Builder();
    if (sum.allows(0)) {
      insert(sql, key, Map.of(Item.VALUE, new Field.Number(sum.delta())), Optional.empty());
      sql.add(" ON CONFLICT (partition, sort) DO UPDATE");
    } else {
      sql.add("UPDATE ").add(schema.table()).add(" AS t");
    }
    sql.add(" SET value = COALESCE(t.value, 0) + ?, version = ", sum.delta()).add(nextVersion);
    sql.add(" WHERE COALESCE(t.value, 0) BETWEEN ? AND ?", sum.low(), sum.high());
    sql.add(" AND NOT jsonb_exists(t.fields, ?)", Item.VALUE);
    if (!sum.allows(0)) {
      and(sql, key);
    }
    return returning(sql);
  }

  /** Inserts items in this order; returns the keys of those that did not exist. */
  Sql insert(List<Write.Put> puts) {
    int count = puts.size();
    String[] partitions = new String[count];
    String[] sorts = new String[count];
    @Nullable Long[] values = new Long[count];
    String[] fields = new String[count];
    @Nullable Long[] expiries = new Long[count];
    for (int i = 0; i < count; i++) {
      Write.Put put = puts.get(i);
      Schema.StoredKey stored = Schema.StoredKey.of(put.key());
      partitions[i] = stored.partition();
      sorts[i] = stored.sort();
      values[i] = put.fields().get(Item.VALUE) instanceof Field.Number n ? (Long) n.value() : null;
      fields[i] = JsonFields.json(put.fields());
      expiries[i] = put.expiresAt().map(at -> at.toEpochMilli()).orElse(null);
    }
    return new Sql(
        """
        INSERT INTO %1$s AS t (partition, sort, value, fields, expires_at, version)
        SELECT partition, sort, value, fields::jsonb, expires_at, %2$s
        FROM unnest(?::text[], ?::text[], ?::bigint[], ?::text[], ?::bigint[])
        AS n (partition, sort, value, fields, expires_at)
        ON CONFLICT (partition, sort) DO NOTHING RETURNING t.partition, t.sort
        """
            .formatted(schema.table(), nextVersion),
        List.of(partitions, sorts, values, fields, expiries));
  }

  Sql write(Write write) {
    Builder sql = new Builder();
    // The effect if there is no item: none, if the condition does not hold then.
    Write.Effect ofNone = write.applyTo(Optional.empty(), new Version(""));
    if (write instanceof Write.Delete) {
      sql.add("DELETE FROM ").add(schema.table()).add(" AS t WHERE ");
    } else if (ofNone instanceof Write.Effect.Now now) {
      Item made = now.item().orElseThrow(); // after a put or an update there is one
      insert(sql, made.key(), made.fields(), made.expiresAt().map(at -> at.toEpochMilli()));
      sql.add(" ON CONFLICT (partition, sort) DO UPDATE");
      set(sql, write);
      sql.add(" WHERE ");
    } else {
      sql.add("UPDATE ").add(schema.table()).add(" AS t");
      set(sql, write);
      sql.add(" WHERE ");
    }
    condition(sql, write.condition(), write);
    if (write instanceof Write.Update update) {
      update.changes().forEach(change -> possible(sql, change));
    }
    if (!(ofNone instanceof Write.Effect.Now) || write instanceof Write.Delete) {
      and(sql, write.key());
    }
    return returning(sql);
  }

  private void insert(
      Builder sql, Key key, Map<String, Field> fields, Optional<Long> expiresAtMillis) {
    Schema.StoredKey stored = Schema.StoredKey.of(key);
    Long value = fields.get(Item.VALUE) instanceof Field.Number number ? number.value() : null;
    sql.add("INSERT INTO ").add(schema.table());
    sql.add(" AS t (partition, sort, value, fields, expires_at, version) VALUES (");
    sql.add("?, ?, ?::bigint, ", stored.partition(), stored.sort(), value);
    sql.add("?::jsonb, ?::bigint, ", JsonFields.json(fields), expiresAtMillis.orElse(null));
    sql.add(nextVersion).add(")");
  }

  private static void and(Builder sql, Key key) {
    Schema.StoredKey stored = Schema.StoredKey.of(key);
    sql.add(" AND t.partition = ? AND t.sort = ?", stored.partition(), stored.sort());
  }

  private static Sql returning(Builder sql) {
    sql.add(" RETURNING t.value, t.fields, t.version, t.expires_at");
    return sql.build();
  }

  private void set(Builder sql, Write write) {
    sql.add(" SET version = ").add(nextVersion);
    switch (write) {
      case Write.Put put -> {
        boolean isNumber = put.fields().get(Item.VALUE) instanceof Field.Number;
        Long value =
            put.fields().get(Item.VALUE) instanceof Field.Number number && isNumber
                ? (Long) number.value()
                : null;
        sql.add(", value = ?::bigint, fields = ?::jsonb", value, JsonFields.json(put.fields()));
        Long expires = put.expiresAt().map(at -> at.toEpochMilli()).orElse(null);
        sql.add(", expires_at = ?::bigint", expires);
      }
      case Write.Update update -> set(sql, update.changes());
      case Write.Delete delete -> throw new IllegalStateException("a delete has no SET clause");
    }
  }

  /** Writes the SET clause of changes; a null member removes the field. */
  private static void set(Builder sql, List<Change> changes) {
    List<Change> members = new ArrayList<>();
    for (Change change : changes) {
      if (change.field().equals(Item.VALUE) && change instanceof Change.Add add) {
        sql.add(", value = COALESCE(t.value, 0) + ?", add.delta());
        continue;
      }
      if (change.field().equals(Item.VALUE) && change instanceof Change.Put put) {
        Long value = put.value() instanceof Field.Number number ? (Long) number.value() : null;
        sql.add(", value = ?::bigint", value);
      }
      members.add(change);
    }
    if (members.isEmpty()) {
      return;
    }
    sql.add(", fields = jsonb_strip_nulls(t.fields || jsonb_build_object(");
    String comma = "";
    for (Change change : members) {
      String name = JsonFields.escaped(change.field());
      sql.add(comma).add("?::text, ", name);
      switch (change) {
        case Change.Add add -> sql.add(NUMBER + " + ?", name, name, add.delta());
        case Change.Put put -> sql.add("?::jsonb", member(put));
        case Change.AddToken add ->
            sql.add(
                SET + " || jsonb_build_object(?::text, 1)", name, JsonFields.escaped(add.token()));
        case Change.DropToken drop ->
            sql.add("NULLIF(" + SET + " - ?, '{}')", name, JsonFields.escaped(drop.token()));
      }
      comma = ", ";
    }
    sql.add("))");
  }

  /** The value of the field named by the first two parameters; 0 if it is missing. */
  private static final String NUMBER =
      "CASE jsonb_typeof(t.fields->?) WHEN 'number' THEN (t.fields->>?)::numeric ELSE 0 END";

  /** The set of the field named by the parameter; empty if it is missing. */
  private static final String SET = "COALESCE(t.fields->?, '{}')";

  private static @Nullable String member(Change.Put put) {
    boolean column = put.field().equals(Item.VALUE) && put.value() instanceof Field.Number;
    boolean none = put.value() instanceof Field.Tokens tokens && tokens.values().isEmpty();
    return column || none ? null : JsonFields.json(put.value());
  }

  /** Requires the field to have the type that a change needs, and its sum to fit into 64 bits. */
  private static void possible(Builder sql, Change change) {
    String name = JsonFields.escaped(change.field());
    switch (change) {
      case Change.Add add -> {
        sql.add(" AND ");
        number(sql, add.field());
        long low = add.delta() < 0 ? Long.MIN_VALUE - add.delta() : Long.MIN_VALUE;
        long high = add.delta() > 0 ? Long.MAX_VALUE - add.delta() : Long.MAX_VALUE;
        if (add.field().equals(Item.VALUE)) {
          sql.add(" AND COALESCE(t.value, 0) BETWEEN ? AND ?", low, high);
        } else {
          sql.add(" AND " + NUMBER + " BETWEEN ? AND ?", name, name, low, high);
        }
      }
      case Change.Put put -> {
        // any type is replaced
      }
      case Change.AddToken add -> {
        sql.add(" AND ");
        tokens(sql, add.field());
      }
      case Change.DropToken drop -> {
        sql.add(" AND ");
        tokens(sql, drop.field());
      }
    }
  }

  /** Requires a field to be a number or missing. */
  private static void number(Builder sql, String field) {
    String name = JsonFields.escaped(field);
    sql.add("COALESCE(jsonb_typeof(t.fields->?), 'number') = 'number'", name);
  }

  /** Requires a field to be a set or missing. */
  private static void tokens(Builder sql, String field) {
    String name = JsonFields.escaped(field);
    sql.add("COALESCE(jsonb_typeof(t.fields->?), 'object') = 'object'", name);
    if (field.equals(Item.VALUE)) {
      sql.add(" AND t.value IS NULL");
    }
  }

  private void condition(Builder sql, Condition condition, Write write) {
    switch (condition) {
      case Condition.Always always -> sql.add("TRUE");
      case Condition.Absent absent -> sql.add("FALSE"); // the row exists
      case Condition.VersionIs is -> {
        boolean ours = is.version().token().matches("[0-9]{1,18}");
        sql.add("t.version = ?", ours ? Long.parseLong(is.version().token()) : -1L);
      }
      case Condition.Has has -> {
        sql.add("(jsonb_exists(t.fields, ?)", JsonFields.escaped(has.field()));
        sql.add(has.field().equals(Item.VALUE) ? " OR t.value IS NOT NULL)" : ")");
      }
      case Condition.FieldIs is -> {
        if (is.field().equals(Item.VALUE) && is.value() instanceof Field.Number number) {
          sql.add("t.value IS NOT DISTINCT FROM ?", number.value());
        } else {
          String name = JsonFields.escaped(is.field());
          sql.add("t.fields->? IS NOT DISTINCT FROM ?::jsonb", name, JsonFields.json(is.value()));
        }
      }
      case Condition.Within within -> within(sql, within, write);
      case Condition.Lacks lacks -> {
        tokens(sql, lacks.field());
        String name = JsonFields.escaped(lacks.field());
        sql.add(" AND NOT jsonb_exists(" + SET + ", ?)", name, JsonFields.escaped(lacks.token()));
      }
      case Condition.FewerThan fewer -> {
        tokens(sql, fewer.field());
        String name = JsonFields.escaped(fewer.field());
        // Not jsonb_object_keys alone: it fails on other types, regardless of the order of
        // conditions.
        sql.add(
            " AND (SELECT count(*) FROM jsonb_object_keys(CASE jsonb_typeof(t.fields->?)", name);
        sql.add(" WHEN 'object' THEN t.fields->? ELSE '{}' END)) < ?", name, fewer.count());
      }
      case Condition.All all -> {
        sql.add("(TRUE");
        for (Condition each : all.conditions()) {
          sql.add(" AND ");
          condition(sql, each, write);
        }
        sql.add(")");
      }
    }
  }

  /** Requires the number after the write to be within bounds, in terms of the row before it. */
  private static void within(Builder sql, Condition.Within within, Write write) {
    Optional<Change> change =
        write instanceof Write.Update update
            ? update.changes().stream().filter(c -> c.field().equals(within.field())).findFirst()
            : Optional.empty();
    long delta = change.isPresent() && change.get() instanceof Change.Add add ? add.delta() : 0;
    boolean known =
        !(write instanceof Write.Update)
            || (change.isPresent() && delta == 0 && change.get() instanceof Change.Put);
    if (known) {
      // Independent of the row, so the result without a row holds for any row.
      Write alone = write.when(within);
      sql.add(alone.holdsOn(Optional.empty()) ? "TRUE" : "FALSE");
      return;
    }
    number(sql, within.field());
    String name = JsonFields.escaped(within.field());
    String before = within.field().equals(Item.VALUE) ? "COALESCE(t.value, 0)" : NUMBER;
    sql.add(" AND ");
    if (within.field().equals(Item.VALUE)) {
      sql.add(before);
    } else {
      sql.add(before, name, name);
    }
    // As numeric, which cannot overflow.
    sql.add(" + ?::numeric BETWEEN ? AND ?", delta, within.min(), within.max());
  }

  /** Builds the text and the parameters of a statement. */
  private static final class Builder {
    private final StringBuilder text = new StringBuilder();
    private final List<@Nullable Object> parameters = new ArrayList<>();

    Builder add(String part, @Nullable Object... values) {
      text.append(part);
      Collections.addAll(parameters, values);
      return this;
    }

    Sql build() {
      return new Sql(text.toString(), parameters);
    }
  }
}
