package dev.quipu.store.group;

import java.util.concurrent.CompletableFuture;

/** A waiting caller; equality is identity. */
final class Waiter {
  final Member member;
  final long bytes; // of its marker, counted by its caller, not by the leader of all
  final CompletableFuture<Signal> signal = new CompletableFuture<>();

  Waiter(Member member) {
    this.member = member;
    this.bytes = member.bytes();
  }
}
