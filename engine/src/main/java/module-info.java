/** The embedded durable store. */
module dev.quipu.engine {
  requires transitive dev.quipu;
  requires transitive dev.quipu.techniques;
  requires org.slf4j;
  requires static transitive org.jspecify;

  exports dev.quipu.engine;
  exports dev.quipu.engine.backup;
  exports dev.quipu.engine.damage;
  exports dev.quipu.engine.history;
  exports dev.quipu.engine.measure;
  exports dev.quipu.engine.transfer;

  provides dev.quipu.Quipu.Opener with
      dev.quipu.engine.EngineProvider;
}
