import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { request, token } from '../api.js';

/** How the server counts; null until it is known. */
export const server = signal(null);
let askedWith; // the token with which it was asked for

/** Asks once how the server counts. */
export function useServer() {
  useEffect(() => {
    if (askedWith === token.value) {
      return;
    }
    askedWith = token.value;
    request('/v1/technique')
      .then((data) => {
        server.value = data;
      })
      .catch(() => {
        askedWith = undefined;
      });
  }, [token.value]);
  return server.value;
}

/** Whether the past of a counter is kept. */
export function isPastKept(name) {
  return (server.value?.history || []).some((pattern) =>
    pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern);
}
