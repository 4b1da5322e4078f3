package dev.quipu.server.cli.input;

import java.net.URI;
import java.net.URISyntaxException;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Parses URLs. */
public final class UrlConverter implements ITypeConverter<URI> {
  @Override
  public URI convert(String value) {
    try {
      return new URI(value);
    } catch (URISyntaxException e) {
      throw new TypeConversionException(
          "not a URL: %s at position %d".formatted(e.getReason(), e.getIndex()));
    }
  }
}
