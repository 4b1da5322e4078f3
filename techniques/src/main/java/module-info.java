/** The counting techniques on stores, and what is built on them. */
module dev.quipu.techniques {
  requires transitive dev.quipu;
  requires org.slf4j;
  requires static transitive org.jspecify;

  exports dev.quipu.backend;
  exports dev.quipu.display;
  exports dev.quipu.hits;
  exports dev.quipu.layer;
  exports dev.quipu.lock;
  exports dev.quipu.memory;
  exports dev.quipu.presence;
  exports dev.quipu.record;
  exports dev.quipu.region;
  exports dev.quipu.sequence;
  exports dev.quipu.shard;
  exports dev.quipu.technique;
  exports dev.quipu.transaction;
  exports dev.quipu.view;

  provides dev.quipu.Quipu.Opener with
      dev.quipu.backend.StoreOpener;
}
