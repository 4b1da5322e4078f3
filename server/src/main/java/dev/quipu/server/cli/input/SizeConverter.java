package dev.quipu.server.cli.input;

import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Parses sizes of memory such as 512m or 4g, in bytes: k, m and g are powers of 1,024. */
public final class SizeConverter implements ITypeConverter<Long> {
  private static final Pattern SIZE = Pattern.compile("([1-9][0-9]{0,8})([kmg])b?");
  private static final String UNITS = "kmg";
  private static final int UNIT_BITS = 10;
  private static final long BYTES_MIN = 1 << 20;

  @Override
  public Long convert(String value) {
    Matcher matcher = SIZE.matcher(value.toLowerCase(Locale.ROOT));
    if (matcher.matches()) {
      int bits = UNIT_BITS * (UNITS.indexOf(matcher.group(2)) + 1);
      long bytes = Long.parseLong(matcher.group(1)) << bits;
      if (bytes >= BYTES_MIN) {
        return bytes;
      }
    }
    throw new TypeConversionException(
        "'"
            + value
            + "' is not a size of at least 1m with a unit; use a format such as 512m or 4g");
  }
}
