package dev.quipu.shop;

import dev.quipu.Quipu;
import dev.quipu.sequence.SequenceOfRecords;
import java.time.Clock;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;

/** Starts the shop. */
@SpringBootApplication
public class ShopApplication {
  /** Runs until it is terminated. */
  public static void main(String[] args) {
    SpringApplication.run(ShopApplication.class, args);
  }

  /** Numbers invoices. */
  @Bean
  SequenceOfRecords invoices(Quipu quipu) {
    return quipu.part(SequenceOfRecords.class);
  }

  /** Determines the day of a quota. */
  @Bean
  Clock clock() {
    return Clock.systemUTC();
  }
}
