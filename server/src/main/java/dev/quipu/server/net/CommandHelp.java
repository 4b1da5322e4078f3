package dev.quipu.server.net;

/**
 * What a port takes: a row of the one table that {@code quipu commands} and the reference page
 * show.
 *
 * @param port Redis, memcached or HTTP
 * @param name of the command; the method for HTTP
 * @param usage its arguments; the path for HTTP
 * @param summary what it does, in a sentence
 */
public record CommandHelp(String port, String name, String usage, String summary) {}
