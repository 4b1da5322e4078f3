package dev.quipu.server.cli.output;

import picocli.CommandLine.IVersionProvider;

/** The version that the jar was built with. */
public final class Version implements IVersionProvider {
  /** For picocli. */
  public Version() {}

  /** Returns the version, as it stands in the manifest of the jar. */
  public static String current() {
    String version = Version.class.getPackage().getImplementationVersion();
    return version == null ? "development" : version;
  }

  @Override
  public String[] getVersion() {
    return new String[] {"quipu " + current()};
  }
}
