package dev.quipu.engine.ids;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * Files are ordered by these hashes, so they never change; expected values computed by another
 * program.
 */
final class SecretTest {
  private static final List<String> NAMES =
      List.of("a", "seven77", "eight888", "a name of 24 characters.", "größer als acht");

  private static void check(long identity, String ids, String names) {
    Secret secret = new Secret(identity);
    assertEquals(
        ids,
        "%x %x %x"
            .formatted(
                secret.hash(1, 2, 3),
                secret.hash(-1, 0, 0),
                secret.hash(0, -1, Integer.MAX_VALUE)));
    StringBuilder found = new StringBuilder();
    for (String name : NAMES) {
      found.append(found.isEmpty() ? "" : " ").append("%x".formatted(secret.hash(name)));
      byte[] within = ("x" + name + "y").getBytes(StandardCharsets.UTF_8);
      assertEquals(secret.hash(name), secret.hash(within, 1, within.length - 2));
    }
    assertEquals(names, found.toString());
  }

  /** Names come as text over HTTP, and as bytes over the other ports. */
  @Test
  void aTextHasTheHashOfItsBytes() {
    Secret secret = new Secret(9);
    for (int length = 0; length <= 40; length++) {
      String text = "0123456789 abcdefghijklmnopqrstuvwxyz/\u007f-".substring(0, length);
      for (String each : List.of(text, text + "é", "é" + text, text + "\0")) {
        byte[] bytes = each.getBytes(StandardCharsets.UTF_8);
        assertEquals(secret.hash(bytes, 0, bytes.length), secret.hash(each), each);
      }
    }
  }

  @Test
  void hashesNeverChange() {
    check(
        0x123456789abcdef0L,
        "2080ff65851210ca 7027cecf79287daf 3244e559ccc9fb8e",
        "47c64c5fd820a455 c543e63eaf9510b5 3ce24a49e567412d 83b9e4dadad10546 acf0b4b541105b91");
    check(
        0,
        "fa4f6c706937b7a9 7901d7611ff72337 b6abacd071ea81e8",
        "9ecc280ce46c458c 728c8feef843da32 100c03922a32f7a fd9817f49080285d ec8f2789d19dcacd");
    check(
        -1,
        "a4c3fe417b455516 fbfd374ee5e897da 4e6186316ee1247d",
        "90419c3da9c225c5 ef366434ab70cf75 ecb60b8535ad5a13 b9665132e53847a7 3d93e4d05e1ea6f");
  }
}
