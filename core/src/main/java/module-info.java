/** The API of Quipu: counters, and the contract that a store implements. */
module dev.quipu {
  requires org.slf4j;
  requires static transitive org.jspecify;

  exports dev.quipu;
  exports dev.quipu.store;
  exports dev.quipu.store.group;
  exports dev.quipu.time;

  uses dev.quipu.Quipu.Opener;
  uses dev.quipu.store.StoreProvider;
}
