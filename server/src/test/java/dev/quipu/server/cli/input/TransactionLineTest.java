package dev.quipu.server.cli.input;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Bounds;
import dev.quipu.engine.transfer.Entry;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import tools.jackson.databind.json.JsonMapper;

/** Transactions and holds as lines of an export. */
final class TransactionLineTest {
  private static final String LINE =
      "{'transaction':'0123456789abcdef0123456789abcdef','state':'settled','contents':'-7',"
          + "'expiresAt':'2026-11-28T01:02:03.004Z','late':'apply',"
          + "'adds':[{'counter':'a','added':'-5','kept':'-3','floor':'0','void':true}]}";

  @ParameterizedTest
  @EnumSource(Entry.Transaction.State.class)
  void aLineIsReadBack(Entry.Transaction.State state) {
    Entry.Transaction entry =
        new Entry.Transaction(
            -1,
            Long.MAX_VALUE,
            state,
            Long.MIN_VALUE,
            1_800_000_000_001L,
            true,
            false,
            List.of(
                new Entry.Part("a\"b", -5, Long.MIN_VALUE, Bounds.between(-9, 9), 2, true),
                new Entry.Part("c", 1, 0, Bounds.none(), 0, false)));
    String line = new JsonMapper().writeValueAsString(EntryLine.members(entry));
    assertEquals(entry, EntryLine.parse(line).entry());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          settled                          | done   | state
          0123456789abcdef0123456789abcdef | 01     | transaction
          apply                            | always | late
          '-5'                             | five   | added
          true                             | false  | void
          """)
  void anInvalidMemberIsNamed(String valid, String invalid, String member) {
    String line = LINE.replace(valid, invalid).replace('\'', '"');
    assertTrue(!line.equals(LINE.replace('\'', '"')));
    var error = assertThrows(IllegalArgumentException.class, () -> EntryLine.parse(line));
    assertTrue(String.valueOf(error.getMessage()).contains(member), error.getMessage());
  }
}
