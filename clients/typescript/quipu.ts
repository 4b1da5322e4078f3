// Client of the HTTP API of `quipu serve`: one file without dependencies, for Node 20 or newer.
//
// An add, a transaction and a hold have a request id, created before the first attempt and sent with every attempt, so
// that each counts exactly once. A write is applied (it returns), not applied (NotAppliedError), or unknown
// (OutcomeUnknownError).

/** 64 bits. A string is a decimal such as '-1.50', with at most as many digits after the point as the counter has. */
export type Amount = bigint | number | string;
/** A bigint; if the counter has a scale, a decimal with exactly as many digits after the point, such as '20.50'. */
export type Value = bigint | string;
type Known = Value | undefined;
/** `deadlineMillis` is the time of a call with all its attempts, 30,000 by default. */
export interface CallOptions { deadlineMillis?: number }
/** `token` is the bearer token; `attemptMillis` the time of one attempt, 16,000 by default: the server takes 15,000. */
export interface ClientOptions extends CallOptions { token?: string; attemptMillis?: number }
export interface Bounds { floor?: Amount; ceiling?: Amount }
/** An add of a transaction or of a hold, which have one id for all. */
export interface Part extends Bounds { name: string; delta: Amount; id?: never }
/** `id` is the request id, 1 to 255 bytes of UTF-8; random by default. */
export interface Add extends Bounds { name: string; delta: Amount; id?: string }
/** An applied add. `value` is the value right after it; undefined if the server does not know it. */
export interface Added { outcome: 'applied'; name: string; id: string; added: Value; value: Known; replayed: boolean }
export interface Reading { name: string; value: Value; low: Value; high: Value }
/** `not-seen` is not definite: the add may still be under way. Cancel it to be sure. */
export interface Outcome { outcome: 'applied' | 'not-seen' | 'canceled'; added: Known; value: Known }
/** As Outcome; `held` if the id is of this hold. */
export interface TransactionOutcome { outcome: Outcome['outcome'] | 'held'; adds: Added[]; hold: Hold | undefined }

/**
 * How to place a hold: it expires after `ttlMillis`. `late` applies a settlement after the expiry, and `excess` one of
 * more than was reserved, both within the bounds; otherwise these are rejected.
 */
export interface HoldOptions extends CallOptions { ttlMillis: number; id?: string; late?: boolean; excess?: boolean }
/** What a hold reserved of a counter; `settled` is what was kept, undefined while the hold is open. */
export interface HeldAmount { counter: string; delta: Value; settled: Known }
/** `expires` is a time of ISO-8601, in UTC. */
export interface Hold { id: string; state: 'open' | 'settled' | 'released' | 'expired'; counters: HeldAmount[];
  expires: string; late: boolean; replayed: boolean }

/**
 * Why there is no result. `code` is the type of the problem, or "unreachable" or "malformed" without one; `counter` the
 * first of several that rejected a call; `hold` one that had ended before.
 */
export interface Failure { code: string; detail: string; status?: number; value?: Known; counter?: string; hold?: Hold;
  isUnknown: boolean; isTemporary: boolean; retryAfterMillis: number }
interface Target { name: string; id?: string; isRead?: boolean }
type Json = Record<string, unknown>;

export class QuipuError extends Error {
  readonly failure: Failure;
  /** Request id of an add, or the id of a transaction or a hold. */
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
  /**
   * Whether it was rejected: by a bound, an overflow, `ifValue`, a scale, the end or the amount of a hold, or because
   * the id was canceled or is of something else; `failure.code` says which.
   */
  readonly isRejected = [409, 422].includes(Number(this.failure.status));
}
/** The write may have been applied, or may be later. Repeat the call with the same `id`, or cancel it. */
export class OutcomeUnknownError extends QuipuError {
  readonly outcome = 'unknown';
}
export type Failed = NotAppliedError | OutcomeUnknownError;

const [RESPONSE_BYTES_MAX, DETAIL_MAX] = [16 << 20, 500];
const [BACKOFF_MILLIS, BACKOFF_MILLIS_MAX] = [50, 2_000];
/** Failures to connect: nothing was sent. */
const UNSENT = /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|UND_ERR_CONNECT_TIMEOUT)$|CERT/;
/** They hold for an earlier attempt that is still under way, too: a hold that has ended never changes again. */
const DEFINITE = ['request-canceled', 'request-id-reused', 'hold-closed', 'hold-exceeded'];

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
  async add(name: string, delta: Amount, options: CallOptions & Bounds & { id?: string } = {}): Promise<Added> {
    const { id = newId() } = options;
    return this.#one('POST', path(name) + '/add', { name, id }, json => added(name, id, json), options,
      amounts(delta, options), key(id));
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

  /** Adds to 1 to 64 counters, each within its own bounds: to all, or to none, exactly once for each id. */
  async transaction(adds: readonly Part[], options: CallOptions & { id?: string } = {}): Promise<Added[]> {
    const { id = newId() } = options;
    return this.#one('POST', '/v1/transactions', { name: names(adds), id },
      json => allAdded(id, json['adds'], json['replayed'] === true), options, { adds: parts(adds) }, key(id));
  }

  /** Returns the outcome of a transaction, or of placing a hold. */
  async transactionOutcome(id: string, options: CallOptions = {}): Promise<TransactionOutcome> {
    return this.#one('GET', `/v1/requests/${encoded(id)}`, { name: id, id, isRead: true },
      json => transactionOutcome(id, json), options);
  }

  /** Cancels a transaction or a hold: unless it was applied or placed, it never will be. */
  async cancelTransaction(id: string, options: CallOptions = {}): Promise<TransactionOutcome> {
    return this.#one('POST', `/v1/requests/${encoded(id)}/cancel`, { name: id, id },
      json => transactionOutcome(id, json), options);
  }

  /**
   * Reserves an amount at once: settle it with what was used, or it is returned when it expires. If the result is
   * replayed, its `state` may have ended.
   */
  async hold(name: string, delta: Amount, options: HoldOptions & Bounds): Promise<Hold> {
    const { floor, ceiling } = options;
    return this.holdAll([{ name, delta, ...(floor !== undefined && { floor }),
      ...(ceiling !== undefined && { ceiling }) }], options);
  }

  /** Places one hold over 1 to 64 counters, as `hold` does: on all, or on none. */
  async holdAll(adds: readonly Part[], options: HoldOptions): Promise<Hold> {
    const { id = newId(), ttlMillis, late = false, excess = false } = options;
    return this.#one('POST', '/v1/holds', { name: names(adds), id }, hold, options, { adds: parts(adds),
      ttl: duration(ttlMillis), late: late ? 'apply' : 'reject', excess: excess ? 'allow' : 'reject' }, key(id));
  }

  /**
   * Ends a hold: keeps what was used, and returns the rest. `used` has the sign of what was reserved, or is 0; for
   * several counters it may be an object with one for each.
   */
  async settle(id: string, used: Amount | Readonly<Record<string, Amount>>, options: CallOptions = {}): Promise<Hold> {
    const body = typeof used !== 'object' ? { delta: decimal(used) }
      : { adds: Object.entries(used).map(([counter, each]) => ({ counter, delta: decimal(each) })) };
    return this.#one('POST', holdPath(id) + '/settle', { name: id, id }, hold, options, body);
  }

  /** Ends a hold of which nothing was used, and returns all of it. */
  async release(id: string, options: CallOptions = {}): Promise<Hold> {
    return this.#one('POST', holdPath(id) + '/release', { name: id, id }, hold, options);
  }

  /** Sets the expiry of an open hold to this time from now. */
  async extend(id: string, ttlMillis: number, options: CallOptions = {}): Promise<Hold> {
    return this.#one('POST', holdPath(id) + '/extend', { name: id, id }, hold, options, { ttl: duration(ttlMillis) });
  }

  /** Returns a hold; undefined if it was never placed, or is no longer remembered. */
  async getHold(id: string, options: CallOptions = {}): Promise<Hold | undefined> {
    try {
      return await this.#one('GET', holdPath(id), { name: id, id, isRead: true }, hold, options);
    } catch (e) {
      if (e instanceof NotAppliedError && e.failure.code === 'hold-not-found') return undefined;
      throw e;
    }
  }

  /**
   * Yields the open holds on a counter, read in pages, each with the deadline. Their ids are 32 hexadecimal digits,
   * which are the same ids for `settle` and the other calls.
   */
  async *holds(name: string, options: CallOptions = {}): AsyncGenerator<Hold, void> {
    let url: string | undefined = path(name) + '/holds?limit=1000';
    while (url !== undefined) {
      const page: Json = await this.#one('GET', url, { name, isRead: true },
        json => ({ holds: (json['holds'] as Json[]).map(hold), cursor: json['cursor'] }), options);
      yield* page['holds'] as Hold[];
      const cursor = page['cursor'];
      url = cursor === undefined ? cursor : `${path(name)}/holds?limit=1000&cursor=${encoded(String(cursor))}`;
    }
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
        return value === undefined ? value : { name, value: number(value), low: number(low), high: number(high) };
      }), options, { names });
  }

  /** Sets the value, regardless of bounds. A set has no request id: after an unknown outcome it is not repeated. */
  async set(name: string, value: Amount, options: CallOptions & { ifValue?: Amount } = {}): Promise<void> {
    await this.#one('PUT', path(name), { name }, json => number(json['value']), options,
      { value: decimal(value), ifValue: decimal(options.ifValue) });
  }

  /** Sets the number of digits after the point, 0 to 18, of a counter that has no value yet; as `set`. */
  async setScale(name: string, scale: number, options: CallOptions = {}): Promise<void> {
    await this.#one('PUT', path(name), { name }, json => number(json['value']), options, { scale });
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
const holdPath = (id: string): string => '/v1/holds/' + encoded(id);
const names = (adds: readonly Part[]): string => adds.slice(0, 3).map(each => each.name).join(', ');
const duration = (millis: number): string => `PT${(millis / 1_000).toFixed(3)}S`;
const optional = (value: unknown): Known => value === undefined ? value : number(value);
const amounts = (delta: Amount, { floor, ceiling }: Bounds): Json =>
  ({ delta: decimal(delta), floor: decimal(floor), ceiling: decimal(ceiling) });
const added = (name: string, id: string, { added, value, replayed }: Json): Added =>
  ({ outcome: 'applied', name, id, added: number(added), value: optional(value), replayed: replayed === true });
const allAdded = (id: string, adds: unknown, replayed: boolean): Added[] =>
  (adds as Json[]).map(each => added(String(each['counter']), id, { ...each, replayed }));

function key(id: string): Record<string, string> {
  const utf8 = encoded(id).replace(/%(..)/g, (_, hex) => String.fromCharCode(parseInt(hex, 16)));
  return { 'Idempotency-Key': `"${utf8.replace(/["\\]/g, '\\$&')}"` };
}

function parts(adds: readonly Part[]): Json[] {
  if (adds.some(each => each.id !== undefined)) {
    throw new RangeError('an add has an id; a transaction or a hold has one id for all: pass it to the call');
  }
  return adds.map(({ name, delta, ...bounds }) => ({ counter: name, ...amounts(delta, bounds) }));
}

function outcome({ outcome, added, value }: Json): Outcome {
  if (!/^(applied|not-seen|canceled)$/.test(String(outcome))) throw new TypeError('no outcome');
  return { outcome: outcome as Outcome['outcome'], added: optional(added), value: optional(value) };
}

function transactionOutcome(id: string, json: Json): TransactionOutcome {
  const kind = String(json['outcome']);
  if (!/^(applied|not-seen|canceled|held)$/.test(kind)) throw new TypeError('no outcome');
  return { outcome: kind as TransactionOutcome['outcome'], adds: allAdded(id, json['adds'] ?? [], true),
    hold: json['hold'] === undefined ? undefined : hold(json['hold'] as Json) };
}

function hold({ id, state, counters, expires, late, replayed }: Json): Hold {
  if (!/^(open|settled|released|expired)$/.test(String(state))) throw new TypeError('no state');
  return { id: String(id), state: state as Hold['state'], counters: (counters as Json[]).map(each => (
    { counter: String(each['counter']), delta: number(each['delta']), settled: optional(each['settled']) })),
    expires: String(expires), late: late === true, replayed: replayed === true };
}

function number(value: unknown): Value {
  if (typeof value === 'string' && /^-?[0-9]{1,19}(\.[0-9]{1,18})?$/.test(value)) {
    return value.includes('.') ? value : BigInt(value);
  }
  throw new TypeError('no 64-bit number');
}

function decimal(value?: Amount): string | undefined {
  if (value === undefined) return value;
  const text = String(value);
  const isExact = typeof value !== 'number' || Number.isSafeInteger(value);
  if (isExact && text.length <= 21 && /^-?(0|[1-9][0-9]*)(\.[0-9]{1,18})?$/.test(text)) {
    const units = BigInt(text.replace('.', ''));
    if (BigInt.asIntN(64, units) === units) return text;
  }
  throw new RangeError(`${text.slice(0, 40)} is not a 64-bit integer or decimal, or not exact as a number: `
    + "send a bigint, or a string such as '-1.50' with at most 18 digits after the point");
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
  const [ended, counter] = [parsedIf(json['hold'], each => hold(each as Json)), json['counter']];
  return { code, detail: String(json['detail']).slice(0, DETAIL_MAX), status, value: parsedIf(json['value'], number),
    ...(typeof counter === 'string' && { counter }), ...(ended && { hold: ended }), isUnknown, isTemporary,
    retryAfterMillis: 1_000 * (retryAfterSeconds || 0) };
}

/** Without a member, or with one of a later version, a problem is still what its status and its type say. */
function parsedIf<T>(member: unknown, parse: (member: unknown) => T): T | undefined {
  try {
    return member === undefined ? undefined : parse(member);
  } catch {
    return undefined;
  }
}

async function content({ body }: Response): Promise<string> {
  let leftBytes = RESPONSE_BYTES_MAX;
  const limited = body?.pipeThrough(new TransformStream({ transform(part: Uint8Array, to) {
    if ((leftBytes -= part.length) < 0) throw new Error(`response is longer than ${RESPONSE_BYTES_MAX} bytes`);
    to.enqueue(part);
  } }));
  return new Response(limited ?? null).text();
}
