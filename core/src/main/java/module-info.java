/** The API of Quipu: counters, techniques, and the contract that a store implements. */
module dev.quipu {
  requires org.slf4j;
  requires static transitive org.jspecify;

  exports dev.quipu;
  exports dev.quipu.backend;
  exports dev.quipu.display;
  exports dev.quipu.hits;
  exports dev.quipu.lock;
  exports dev.quipu.presence;
  exports dev.quipu.record;
  exports dev.quipu.region;
  exports dev.quipu.sequence;
  exports dev.quipu.shard;
  exports dev.quipu.store;
  exports dev.quipu.technique;
  exports dev.quipu.time;
  exports dev.quipu.view;

  uses dev.quipu.Quipu.Opener;
  uses dev.quipu.store.StoreProvider;
}
