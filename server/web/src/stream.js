import { signal } from '@preact/signals';
import { headers, rejected, token } from './api.js';
import { askServer } from './parts/useServer.js';

const RETRY_MILLIS = 1000;

/**
 * Whether the last stream that was opened is connected: live, connecting, lost if that has failed, or unsupported; empty
 * before the first.
 */
export const state = signal('');

/**
 * Follows counters with a prefix. fetch and not EventSource, which cannot send a token.
 *
 * @param present whether to receive the present counters first, and not only changes
 * @param receive gets the type of an event and its data
 * @returns a function that ends it
 */
export function follow(prefix, present, receive) {
  const abort = new AbortController();
  run(prefix, present, receive, abort.signal);
  return () => abort.abort();
}

async function run(prefix, present, receive, signal) {
  let lastId = '';
  state.value ||= 'connecting';
  while (!signal.aborted) {
    try {
      const how = await askServer();
      if (how && how.technique !== 'engine') {
        state.value = 'unsupported';
        return;
      }
      const more = lastId ? { 'Last-Event-ID': lastId } : {};
      const query = new URLSearchParams({ prefix, present });
      const used = token.value;
      const response = await fetch(`/v1/watch?${query}`, { headers: headers(more), signal });
      if (response.status === 401) {
        rejected(used);
        return;
      }
      if (response.ok) {
        state.value = 'live';
        for await (const event of events(response.body)) {
          receive(event.type, JSON.parse(event.data));
          lastId = event.id || lastId;
        }
      }
    } catch {
      // lost: connect again
    }
    if (!signal.aborted) {
      state.value = state.value === 'live' ? 'connecting' : 'lost';
      await new Promise((resolve) => setTimeout(resolve, RETRY_MILLIS));
    }
  }
}

async function* events(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const { value, done } = await reader.read();
    if (done) {
      return;
    }
    const parts = (rest + value).split('\n\n');
    rest = parts.pop();
    for (const part of parts) {
      const event = { type: '', id: '', data: '' };
      for (const line of part.split('\n')) {
        const colon = line.indexOf(': ');
        const field = line.slice(0, colon);
        if (field === 'event') {
          event.type = line.slice(colon + 2);
        } else if (field === 'id' || field === 'data') {
          event[field] = line.slice(colon + 2);
        }
      }
      if (event.data) {
        yield event;
      }
    }
  }
}
