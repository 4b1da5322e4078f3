package dev.quipu.server.net;

/**
 * A command or route of a port, as {@code quipu commands} and the reference page show it.
 *
 * @param port Redis, memcached or HTTP
 * @param name command name; for HTTP the method
 * @param usage arguments; for HTTP the path
 * @param summary one sentence
 */
public record CommandHelp(String port, String name, String usage, String summary) {}
