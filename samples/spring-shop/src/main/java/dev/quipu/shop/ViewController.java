package dev.quipu.shop;

import dev.quipu.AddResult;
import dev.quipu.Counter;
import dev.quipu.Quipu;
import dev.quipu.Reading;
import dev.quipu.RequestId;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

/** Views of articles: each view counts once, however often it is sent. */
@RestController
@RequestMapping("/articles/{article}/views")
class ViewController {
  private final Quipu quipu;

  ViewController(Quipu quipu) {
    this.quipu = quipu;
  }

  /** The number of views, and whether this view was counted before. */
  record Views(String article, long views, boolean replayed) {}

  @PostMapping
  Views view(@PathVariable String article, @RequestHeader("Idempotency-Key") String view) {
    AddResult.Success counted = views(article).add(1, RequestId.of(view)).orElseThrow();
    return new Views(article, counted.value(), counted.isReplayed());
  }

  @GetMapping
  Views read(@PathVariable String article) {
    return new Views(article, views(article).read().map(Reading::value).orElse(0L), false);
  }

  private Counter views(String article) {
    return quipu.counter("views/" + article);
  }
}
