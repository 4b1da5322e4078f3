package dev.quipu.spring;

import dev.quipu.Guarantee;
import dev.quipu.Quipu;
import dev.quipu.layer.Store;
import java.util.Map;
import java.util.TreeMap;
import org.springframework.util.ClassUtils;

/**
 * Where and how an application counts.
 *
 * @param store the name of the store, or "server"
 * @param technique the name of the technique
 * @param guarantees the guarantees of the technique, each with a sentence
 */
record QuipuPlace(String store, String technique, Map<Guarantee, String> guarantees) {
  private static final boolean HAS_STORES =
      ClassUtils.isPresent("dev.quipu.layer.Store", QuipuPlace.class.getClassLoader());

  /**
   * Returns the place. Asks the server, if it is one and was not asked before.
   *
   * @throws dev.quipu.QuipuException if the server does not respond
   */
  static QuipuPlace of(Quipu quipu) {
    Map<Guarantee, String> guarantees = new TreeMap<>();
    for (Guarantee each : quipu.counters().guarantees()) {
      guarantees.put(each, each.sentence());
    }
    return new QuipuPlace(store(quipu), quipu.counters().technique(), guarantees);
  }

  private static String store(Quipu quipu) {
    try {
      return HAS_STORES ? quipu.part(Store.class).profile().name() : "server";
    } catch (UnsupportedOperationException e) {
      return "server";
    }
  }
}
