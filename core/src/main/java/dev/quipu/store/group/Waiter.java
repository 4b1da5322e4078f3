package dev.quipu.store.group;

import java.util.concurrent.CompletableFuture;

/** A waiting caller; equality is identity. */
final class Waiter {
  final Member member;
  Lane lane; // that of its caller, or the one that it leads at once
  final long bytes; // of its marker, counted by its caller, not by the leader of all
  final CompletableFuture<Signal> signal = new CompletableFuture<>();

  Waiter(Member member, Lane lane) {
    this.member = member;
    this.lane = lane;
    this.bytes = member.bytes();
  }
}
