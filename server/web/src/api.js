import { signal } from '@preact/signals';

// The token is kept for this tab only.
const KEY = 'quipu-token';

export const token = signal(sessionStorage.getItem(KEY) || '');
export const isTokenNeeded = signal(false);

export function signIn(text) {
  token.value = text;
  isTokenNeeded.value = false;
  if (text) {
    sessionStorage.setItem(KEY, text);
  } else {
    sessionStorage.removeItem(KEY);
  }
}

/** A response that is not the expected one: an RFC 9457 problem, or none at all. */
export class Problem extends Error {
  constructor(status, body) {
    super(body.detail || body.title || `status ${status}`);
    this.status = status;
    this.body = body;
    // Unknown is a result: only the server can say that nothing was applied.
    this.isUnknown = status === 0 || body.outcome === 'unknown';
  }
}

/** What became of a request that was not answered as expected, and its explanation. */
export function failed(problem) {
  return problem.isUnknown
    ? { kind: 'unknown', text: `unknown: ${problem.message}; repeat it` }
    : { kind: 'rejected', text: problem.message };
}

/** Asks for a token if the server has rejected one that is still in use. */
export function rejected(used) {
  if (used === token.value) {
    isTokenNeeded.value = true;
  }
}

export function headers(more) {
  return token.value ? { Authorization: `Bearer ${token.value}`, ...more } : { ...more };
}

export async function request(path, { method = 'GET', body, key, signal: abort } = {}) {
  const more = {};
  if (body !== undefined) {
    more['Content-Type'] = 'application/json';
  }
  if (key) {
    more['Idempotency-Key'] = `"${key}"`;
  }
  const used = token.value;
  let response;
  try {
    response = await fetch(path, {
      method,
      headers: headers(more),
      body: body === undefined ? undefined : JSON.stringify(body),
      signal: abort,
    });
  } catch (error) {
    if (error.name === 'AbortError') {
      throw error;
    }
    throw new Problem(0, { detail: 'no response from the server' });
  }
  const text = await response.text();
  let json = {};
  try {
    json = text ? JSON.parse(text) : {};
  } catch {
    json = { detail: text.slice(0, 200) };
  }
  if (response.status === 401) {
    rejected(used);
  }
  if (!response.ok) {
    throw new Problem(response.status, json);
  }
  return json;
}

/** The path of a counter: each part of its name is encoded, also a slash. */
export function path(name) {
  return `/v1/counters/${encodeURIComponent(name)}`;
}

/** An id of 128 random bits, under which a request may be repeated. */
export function newId() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (each) => each.toString(16).padStart(2, '0')).join('');
}
