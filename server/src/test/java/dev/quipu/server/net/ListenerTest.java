package dev.quipu.server.net;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.netty.channel.embedded.EmbeddedChannel;
import java.io.IOException;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Errors of accepting connections. */
final class ListenerTest {
  @ParameterizedTest
  @CsvSource({
    "io_uring accept(..) failed with error(-22): Invalid argument, false",
    "accept(..) failed with error(-9): Bad file descriptor, false",
    "accept(..) failed with error(-24): Too many open files, true",
    "accept(..) failed with error(-103): Software caused connection abort, true"
  })
  void aSocketThatNoLongerListensIsClosed(String message, boolean isOpen) {
    EmbeddedChannel channel = new EmbeddedChannel(new Listener.AcceptErrors());
    channel.pipeline().fireExceptionCaught(new IOException(message));
    assertEquals(isOpen, channel.isOpen());
  }
}
