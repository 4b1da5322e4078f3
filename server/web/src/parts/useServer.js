import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { request, token } from '../api.js';

/** How the server counts; null until it is known. */
export const server = signal(null);
let asked; // the token with which it was asked for, and the answer

/** Asks once how the server counts; null if there is no answer. */
export function askServer() {
  if (asked?.token !== token.value) {
    const mine = { token: token.value };
    asked = mine;
    mine.answer = request('/v1/technique')
      .then((data) => {
        server.value = data;
        return data;
      })
      .catch(() => {
        if (asked === mine) {
          asked = undefined;
        }
        return null;
      });
  }
  return asked.answer;
}

/** How the server counts; null until it is known. */
export function useServer() {
  useEffect(() => {
    askServer();
  }, [token.value]);
  return server.value;
}

/** Whether the past of a counter is kept. */
export function isPastKept(name) {
  return (server.value?.history || []).some((pattern) =>
    pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern);
}
