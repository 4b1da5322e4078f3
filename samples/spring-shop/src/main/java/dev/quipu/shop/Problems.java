package dev.quipu.shop;

import dev.quipu.NotAppliedException;
import dev.quipu.OutcomeUnknownException;
import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;

/** What a client sees if a request fails. */
@RestControllerAdvice
class Problems {
  /** The outcome is unknown, or nothing was applied: the client repeats under the same id. */
  @ExceptionHandler({OutcomeUnknownException.class, NotAppliedException.class})
  ProblemDetail unavailable(RuntimeException e) {
    return ProblemDetail.forStatusAndDetail(
        HttpStatus.SERVICE_UNAVAILABLE, "Repeat with the same Idempotency-Key: " + e.getMessage());
  }

  /** A name, an id or a quantity is out of its limits. */
  @ExceptionHandler
  ProblemDetail invalid(IllegalArgumentException e) {
    return ProblemDetail.forStatusAndDetail(HttpStatus.BAD_REQUEST, String.valueOf(e.getMessage()));
  }
}
