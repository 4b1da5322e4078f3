// Client of the HTTP API of `quipu serve`: one file without dependencies, for Node 20 or newer.
//
// An add has a request id, created before its first attempt and sent with every attempt, so that it counts exactly
// once. A write is applied (it returns), not applied (NotAppliedError), or unknown (OutcomeUnknownError).

export type Integer = bigint | number;
type Known = bigint | undefined;
/** `deadlineMillis` is the time of a call with all its attempts, 30,000 by default. */
export interface CallOptions { deadlineMillis?: number }
/** `token` is the bearer token; `attemptMillis` the time of one attempt, 16,000 by default: the server takes 15,000. */
export interface ClientOptions extends CallOptions { token?: string; attemptMillis?: number }
export interface Bounds { floor?: Integer; ceiling?: Integer }
/** `id` is the request id, 1 to 255 bytes of UTF-8; random by default. */
export interface Add extends Bounds { name: string; delta: Integer; id?: string }
/** An applied add. `value` is the value right after it; undefined if the server does not know it. */
export interface Added { outcome: 'applied'; name: string; id: string; added: bigint; value: Known; replayed: boolean }
export interface Reading { name: string; value: bigint; low: bigint; high: bigint }
/** `not-seen` is not definite: the add may still be under way. Cancel it to be sure. */
export interface Outcome { outcome: 'applied' | 'not-seen' | 'canceled'; added: Known; value: Known }

/** Why there is no result. `code` is the type of the problem, or "unreachable" or "malformed" without one. */
export interface Failure { code: string; detail: string; status?: number; value?: Known;
  isUnknown: boolean; isTemporary: boolean; retryAfterMillis: number }
interface Target { name: string; id?: string; isRead?: boolean }
type Json = Record<string, unknown>;

export class QuipuError extends Error {
  readonly failure: Failure;
  /** Request id of an add. */
  readonly id: string | undefined;
  constructor(what: string, { name, id }: Target, failure: Failure) {
    super(`${name}: ${what}: ${failure.code}: ${failure.detail}`);
    this.name = new.target.name;
    this.failure = failure;
    this.id = id;
  }
}
/** The call changed nothing and never will; a failed read throws it, too. */
export class NotAppliedError extends QuipuError {
  readonly outcome = 'not-applied';
  /** Whether the counter rejected it: a bound, an overflow, `ifValue`, an id that was canceled or used otherwise. */
  readonly isRejected = [409, 422].includes(Number(this.failure.status));
}
/** The write may have been applied, or may be later. Repeat the add with the same `id`, or cancel it. */
export class OutcomeUnknownError extends QuipuError {
  readonly outcome = 'unknown';
}
export type Failed = NotAppliedError | OutcomeUnknownError;

const [RESPONSE_BYTES_MAX, DETAIL_MAX] = [16 << 20, 500];
const [BACKOFF_MILLIS, BACKOFF_MILLIS_MAX] = [50, 2_000];
/** Failures to connect: nothing was sent. */
const UNSENT = /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|UND_ERR_CONNECT_TIMEOUT)$|CERT/;
/** Rejections that also hold for an earlier attempt that is still under way. */
const DEFINITE = ['request-canceled', 'request-id-reused'];

export class Quipu {
  readonly #base: string;
  readonly #headers: Record<string, string>;
  readonly #options: ClientOptions;

  constructor(url: string, options: ClientOptions = {}) {
    const { protocol, origin, pathname, username, password, search, hash } = new URL(url);
    if (!/^https?:$/.test(protocol) || username || password || search || hash) {
      throw new RangeError('the URL must be http(s)://host[:port][/path]; pass a token as an option');
    }
    if (options.token !== undefined && !/^[\x21-\x7e]+$/.test(options.token)) {
      throw new RangeError('the token must be visible ASCII characters, without blanks');
    }
    this.#base = origin + pathname.replace(/\/+$/, '');
    this.#headers = options.token === undefined ? {} : { Authorization: 'Bearer ' + options.token };
    this.#options = options;
  }

  /** Adds to a counter, exactly once for each request id. */
  async add(name: string, delta: Integer, options: CallOptions & Bounds & { id?: string } = {}): Promise<Added> {
    const { id = newId() } = options;
    const utf8 = encoded(id).replace(/%(..)/g, (_, hex) => String.fromCharCode(parseInt(hex, 16)));
    return this.#one('POST', path(name) + '/add', { name, id }, json => added(name, id, json), options,
      amounts(delta, options), { 'Idempotency-Key': `"${utf8.replace(/["\\]/g, '\\$&')}"` });
  }

  /** Adds to several counters, at most 10,000. Each add has its own result, in the same order. */
  async addAll(adds: readonly Add[], options: CallOptions = {}): Promise<(Added | Failed)[]> {
    const targets = adds.map(({ name, delta, id = newId(), ...bounds }) => {
      encoded(name + id); // throws on what is not Unicode
      return { name, id, line: JSON.stringify({ name, ...amounts(delta, bounds), id }) + '\n' };
    });
    return this.#settle(targets, true, options, async (pending, millis) => {
      const reply = await this.#send('POST', '/v1/counters/bulk', millis, pending.map(each => each.line).join(''),
        { 'Content-Type': 'application/x-ndjson' });
      const lines = typeof reply === 'string' ? reply.split('\n') : [];
      return pending.map(({ name, id }, i) => typeof reply !== 'string' ? reply : parsed(String(lines[i]), json =>
        json['status'] === 200 ? added(name, id, json) : problem(Number(json['status']), json)));
    });
  }

  /** Returns a counter; undefined if it was never written, or was deleted. */
  async read(name: string, options: CallOptions = {}): Promise<Reading | undefined> {
    return (await this.readAll([name], options))[0];
  }

  /** Returns at most 1,000 counters, in the order of the names. */
  async readAll(names: readonly string[], options: CallOptions = {}): Promise<(Reading | undefined)[]> {
    return this.#one('POST', '/v1/counters/read', { name: names.slice(0, 3).join(', '), isRead: true }, json =>
      names.map((name, i) => {
        const { value, low, high } = (json['counters'] as Json[])[i] as Json;
        return value === undefined ? value : { name, value: integer(value), low: integer(low), high: integer(high) };
      }), options, { names });
  }

  /** Sets the value, regardless of bounds. A set has no request id: after an unknown outcome it is not repeated. */
  async set(name: string, value: Integer, options: CallOptions & { ifValue?: Integer } = {}): Promise<void> {
    await this.#one('PUT', path(name), { name }, json => integer(json['value']), options,
      { value: decimal(value), ifValue: decimal(options.ifValue) });
  }

  /** Deletes a counter, if it exists. As with `set`, an unknown outcome is not repeated. */
  async delete(name: string, options: CallOptions = {}): Promise<void> {
    await this.#one('DELETE', path(name), { name }, () => undefined, options);
  }

  /** Returns the outcome of an add. */
  async outcome(name: string, id: string, options: CallOptions = {}): Promise<Outcome> {
    return this.#one('GET', request(name, id, ''), { name, id, isRead: true }, outcome, options);
  }

  /** Cancels an add: unless it was applied, it never will be. */
  async cancel(name: string, id: string, options: CallOptions = {}): Promise<Outcome> {
    return this.#one('POST', request(name, id, '/cancel'), { name, id }, outcome, options);
  }

  async #one<T>(method: string, url: string, target: Target, parse: (json: Json) => T, options: CallOptions,
    body?: object, headers: Record<string, string> = {}): Promise<T> {
    const text = body && JSON.stringify(body);
    const [result] = await this.#settle<T, Target>([target], /GET|POST/.test(method), options, async (_, millis) => {
      const reply = await this.#send(method, url, millis, text, { 'Content-Type': 'application/json', ...headers });
      return [typeof reply === 'string' ? parsed(reply || '{}', parse) : reply];
    });
    if (result instanceof QuipuError) throw result;
    return result as T;
  }

  /** Sends the pending calls until each has a definite result, or the time is over. */
  async #settle<T, R extends Target>(targets: readonly R[], isRepeatable: boolean, options: CallOptions,
    send: (pending: R[], millis: number) => Promise<(T | Failure)[]>): Promise<(T | Failed)[]> {
    const end = performance.now() + (options.deadlineMillis ?? this.#options.deadlineMillis ?? 30_000);
    const calls = targets.map(target => ({ target } as { target: R; result: T | Failure; lost?: Failure }));
    let pending = calls;
    for (let attempt = 0; pending.length > 0; attempt++) {
      const millis = Math.max(1, Math.min(this.#options.attemptMillis ?? 16_000, end - performance.now()));
      const results = await send(pending.map(call => call.target), Math.ceil(millis));
      let waitMillis = Math.min(BACKOFF_MILLIS_MAX, BACKOFF_MILLIS * 2 ** attempt) * (0.5 + Math.random() / 2);
      pending = pending.filter((call, i) => {
        const result = call.result = results[i] as T | Failure;
        if (!isFailure(result)) return false;
        if (result.isUnknown && !call.target.isRead) call.lost = result;
        waitMillis = Math.max(waitMillis, result.retryAfterMillis * (1 + Math.random() / 4));
        return result.isTemporary && (isRepeatable || !call.lost);
      });
      if (performance.now() + waitMillis >= end) break;
      if (pending.length > 0) await new Promise(resolve => setTimeout(resolve, waitMillis));
    }
    return calls.map(({ target, result, lost }) => !isFailure(result) ? result
      : lost && !DEFINITE.includes(result.code) ? new OutcomeUnknownError('outcome unknown', target, lost)
      : new NotAppliedError('not applied', target, result));
  }

  /** Returns the body of a 2xx, or why there is none. */
  async #send(method: string, url: string, millis: number, body: string | undefined,
    headers: Record<string, string>): Promise<string | Failure> {
    try {
      const response = await fetch(this.#base + url, { method, ...(body !== undefined && { body }), redirect: 'manual',
        headers: { ...this.#headers, ...headers }, signal: AbortSignal.timeout(millis) });
      const text = await content(response);
      if (response.ok) return text;
      const json = parsed(text, json => json);
      return problem(response.status, isFailure(json) ? {} : json, Number(response.headers.get('Retry-After')));
    } catch (e) {
      const { message, cause } = e as { message: string; cause?: { code?: string } };
      const why = String(cause?.code ?? message);
      return failed('unreachable', why, !UNSENT.test(why));
    }
  }
}

const isFailure = (result: unknown): result is Failure =>
  typeof result === 'object' && result !== null && 'isUnknown' in result;
const failed = (code: string, detail: string, isUnknown: boolean): Failure =>
  ({ code, detail: detail.slice(0, DETAIL_MAX), isUnknown, isTemporary: true, retryAfterMillis: 0 });
const path = (name: string): string => '/v1/counters/' + encoded(name);
const request = (name: string, id: string, what: string): string =>
  `/v1/requests/${encoded(id)}${what}?counter=${encoded(name)}`;
const newId = (): string => crypto.randomUUID().replaceAll('-', '');
const optional = (value: unknown): Known => value === undefined ? value : integer(value);
const amounts = (delta: Integer, { floor, ceiling }: Bounds): Json =>
  ({ delta: decimal(delta), floor: decimal(floor), ceiling: decimal(ceiling) });
const added = (name: string, id: string, { added, value, replayed }: Json): Added =>
  ({ outcome: 'applied', name, id, added: integer(added), value: optional(value), replayed: replayed === true });

function outcome({ outcome, added, value }: Json): Outcome {
  if (!/^(applied|not-seen|canceled)$/.test(String(outcome))) throw new TypeError('no outcome');
  return { outcome: outcome as Outcome['outcome'], added: optional(added), value: optional(value) };
}

function integer(value: unknown): bigint {
  if (typeof value === 'string' && /^-?[0-9]{1,19}$/.test(value)) return BigInt(value);
  throw new TypeError('no 64-bit integer');
}

function decimal(value?: Integer): string | undefined {
  const isExact = typeof value !== 'number' || Number.isSafeInteger(value);
  if (isExact && (value === undefined || BigInt.asIntN(64, BigInt(value)) === BigInt(value))) return value?.toString();
  throw new RangeError(`${value} is not a 64-bit integer, or not exact as a number: use a bigint`);
}

/** Percent-encodes a text as UTF-8; throws on what is not Unicode. A URL cannot have the segments "." and "..". */
function encoded(text: string): string {
  if (!/^\.\.?$|[\x00-\x1f\x7f]/.test(text)) return encodeURIComponent(text);
  throw new RangeError('a name or request id must not be "." or "..", nor have control characters');
}

function parsed<T>(text: string, parse: (json: Json) => T): T | Failure {
  try {
    return parse(JSON.parse(text));
  } catch (e) {
    return failed('malformed', String(e), true);
  }
}

/** A server error that states no outcome, as of a proxy, is unknown. */
function problem(status: number, json: Json, retryAfterSeconds = 0): Failure {
  const code = String(json['type'] ?? `http-${status}`).replace('/problems/', '');
  const isServers = status === 408 || (status !== 501 && !(status < 500));
  const isUnknown = json['outcome'] === 'unknown' || (isServers && json['outcome'] !== 'not-applied');
  const isTemporary = status === 429 || (isServers && code !== 'store-damaged');
  return { code, detail: String(json['detail']).slice(0, DETAIL_MAX), status, value: optional(json['value']),
    isUnknown, isTemporary, retryAfterMillis: 1_000 * (retryAfterSeconds || 0) };
}

async function content({ body }: Response): Promise<string> {
  let leftBytes = RESPONSE_BYTES_MAX;
  const limited = body?.pipeThrough(new TransformStream({ transform(part: Uint8Array, to) {
    if ((leftBytes -= part.length) < 0) throw new Error(`response is longer than ${RESPONSE_BYTES_MAX} bytes`);
    to.enqueue(part);
  } }));
  return new Response(limited ?? null).text();
}
