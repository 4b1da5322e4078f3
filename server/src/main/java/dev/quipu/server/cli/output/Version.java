package dev.quipu.server.cli.output;

import picocli.CommandLine.IVersionProvider;

/** The version of this build. */
public final class Version implements IVersionProvider {
  /** Creates the provider, for picocli. */
  public Version() {}

  /** Returns the version in the manifest of the jar. */
  public static String current() {
    String version = Version.class.getPackage().getImplementationVersion();
    return version == null ? "development" : version;
  }

  @Override
  public String[] getVersion() {
    return new String[] {"quipu " + current()};
  }
}
