/** The API of Quipu: counters, techniques, and the contract that a store implements. */
module dev.quipu {
  requires org.slf4j;
  requires static transitive org.jspecify;

  exports dev.quipu;
  exports dev.quipu.display;
  exports dev.quipu.presence;
  exports dev.quipu.sequence;
  exports dev.quipu.store;
  exports dev.quipu.technique;
  exports dev.quipu.time;

  uses dev.quipu.EmbeddedEngine.Provider;
  uses dev.quipu.store.StoreProvider;
}
