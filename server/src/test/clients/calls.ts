// Calls of quipu.ts for tests: `node calls.js URL TOKEN DEADLINE_MILLIS MODE …`; TOKEN may be `-`.
import { NotAppliedError, OutcomeUnknownError, Quipu } from './quipu.ts';
import type { Added, Hold } from './quipu.ts';

declare const process: { argv: string[] };

const [url = '', token = '', deadline = '', mode = '', name = '', ...more] = process.argv.slice(2);
const client = new Quipu(url, { deadlineMillis: Number(deadline), ...(token !== '-' && { token }) });
const [first = '', second = ''] = more;

/** The outcome in one line. */
function line(result: unknown): string {
  if (result instanceof OutcomeUnknownError) return `unknown ${result.failure.code} ${result.id} | ${result.message}`;
  if (!(result instanceof NotAppliedError)) throw result;
  const { code, value, counter, hold } = result.failure;
  const why = [code, value ?? '-', counter, hold?.state].filter(each => each !== undefined).join(' ');
  return `${result.isRejected ? 'rejected' : 'not-applied'} ${why} | ${result.message}`;
}

function text({ added, value, replayed }: Added): string {
  return `applied ${added} ${value ?? '-'} ${replayed}`;
}

function texts(adds: Added[]): string {
  return adds.map(each => `${each.name} ${text(each)}`).join(', ');
}

function state(hold: Hold | undefined): string {
  return hold === undefined ? 'none'
    : `${hold.state} ${hold.counters.map(each => `${each.delta} ${each.settled ?? '-'}`).join(', ')} ${hold.replayed}`;
}

async function shown(call: () => Promise<unknown>): Promise<void> {
  try {
    console.log(await call());
  } catch (e) {
    console.log(e instanceof RangeError || e instanceof URIError ? 'invalid' : line(e));
  }
}

/** Many concurrent adds of 1, of which every tenth call is a batch of ten. */
async function many(calls: number, concurrent: number): Promise<string> {
  let [next, applied, replayed] = [0, 0, 0];
  const count = (each: Added): void => {
    applied++;
    replayed += each.replayed ? 1 : 0;
  };
  await Promise.all(Array.from({ length: concurrent }, async () => {
    while (next < calls) {
      if (next++ % 10 > 0) {
        count(await client.add(name, 1));
        continue;
      }
      for (const each of await client.addAll(Array.from({ length: 10 }, () => ({ name, delta: 1n })))) {
        if (each.outcome !== 'applied') throw each;
        count(each);
      }
    }
  }));
  return `applied ${applied}, replayed ${replayed > 0}`;
}

/** Each call, with the largest numbers, and names and ids of all kinds. */
async function tour(): Promise<void> {
  const max = 2n ** 63n - 1n;
  const id = 'order "ñ\\€" 🙂/1';
  await shown(async () => String(await client.read(name)));
  await shown(async () => text(await client.add(name, max, { id })));
  await shown(async () => text(await client.add(name, max, { id })));
  await shown(async () => text(await client.add(name, 5, { id })));
  await shown(async () => text(await client.add(name, 1)));
  await shown(async () => text(await client.add(name, -2n, { floor: max - 1n })));
  await shown(async () => (await client.outcome(name, id)).outcome + ' ' + (await client.outcome(name, id)).added);
  await shown(async () => (await client.outcome(name, 'other')).outcome);
  await shown(async () => (await client.cancel(name, 'other')).outcome);
  await shown(async () => text(await client.add(name, -1, { id: 'other' })));
  await shown(async () => client.set(name, -(2n ** 63n)).then(() => 'set'));
  await shown(async () => client.set(name, 7, { ifValue: 6 }).then(() => 'set'));
  const readings = await client.readAll(['none', name]);
  console.log(readings.map(each => each ? `${each.low} ${each.value} ${each.high}` : 'none').join(', '));
  await shown(async () => client.delete(name).then(() => 'deleted'));
  await shown(async () => String(await client.read(name)));
  const adds = [{ name, delta: 2, ceiling: 3, id: 'b1' }, { name, delta: 2, ceiling: 3 }, { name, delta: 0 }];
  for (const each of await client.addAll([...adds, { name, delta: 2, ceiling: 3, id: 'b1' }])) {
    console.log(each.outcome === 'applied' ? text(each) : line(each).replace(/ \|.*/, ''));
  }
  await shown(async () => client.add(name, 2 ** 53));
  await shown(async () => client.add(name, 2n ** 63n));
  await shown(async () => client.add(name, 1, { id: 'a\nb' }));
  await shown(async () => client.add('\ud800', 1));
}

/** Calls on a counter of scale 2. */
async function decimals(): Promise<void> {
  const [cents, integers] = [name, name + 'i'];
  await shown(async () => client.setScale(cents, 2).then(() => 'set'));
  await shown(async () => text(await client.add(cents, '20.5', { id: 'a' })));
  await shown(async () => text(await client.add(cents, '20.50', { id: 'a' })));
  await shown(async () => text(await client.add(cents, '20.51', { id: 'a' })));
  await shown(async () => client.setScale(cents, 3).then(() => 'set'));
  await shown(async () => text(await client.add(cents, '-0.25')));
  await shown(async () => text(await client.add(cents, 1n)));
  await shown(async () => text(await client.add(cents, -22, { floor: 0 })));
  await shown(async () => text(await client.add(cents, '0.001')));
  const adds = [{ name: cents, delta: '0.75' }, { name: integers, delta: 3 }];
  for (const each of await client.addAll([...adds, { name: cents, delta: -100, floor: '0.5' }])) {
    console.log(each.outcome === 'applied' ? text(each) : line(each).replace(/ \|.*/, ''));
  }
  const readings = await client.readAll([cents, integers]);
  const types = readings.map(each => typeof each?.value).join();
  if (types !== 'string,bigint') throw new Error(types);
  console.log(readings.map(each => each && `${each.low} ${each.value} ${each.high}`).join(', '));
  await shown(async () => client.set(cents, '5.5', { ifValue: 22 }).then(() => 'set'));
  await shown(async () => client.set(cents, 1, { ifValue: '9.00' }).then(() => 'set'));
  await shown(async () => (await client.outcome(cents, 'a')).outcome + ' ' + (await client.outcome(cents, 'a')).added);
  for (const inexact of [0.5, '1,5', '1e3', '9.2233720368547758080', NaN]) {
    await shown(async () => text(await client.add(cents, inexact)));
  }
}

/** Each call on holds and transactions; one counter has the scale 2. */
async function holds(): Promise<void> {
  const [other, id, ttlMillis] = [name + 'i', 'h 1/"é', 600_000];
  const transfer = [{ name, delta: '-0.75', floor: 0 }, { name: other, delta: 3 }];
  await shown(async () => client.setScale(name, 2).then(() => 'set'));
  await shown(async () => client.set(name, 10).then(() => 'set'));
  await shown(async () => client.set(other, 5).then(() => 'set'));
  await shown(async () => state(await client.hold(name, '-3.5', { ttlMillis, floor: 0, id })));
  await shown(async () => state(await client.hold(name, '-3.5', { ttlMillis, floor: 0, id })));
  await shown(async () => state(await client.hold(name, -4, { ttlMillis, floor: 0, id })));
  await shown(async () => state(await client.hold(name, -7, { ttlMillis, floor: 0 })));
  await shown(async () => state(await client.extend(id, 1_200_000)));
  await shown(async () => state(await client.getHold(id)));
  await shown(async () => state(await client.getHold('none')));
  await shown(async () => {
    const open = [];
    for await (const each of client.holds(name)) open.push(state(each));
    return open.join('; ');
  });
  await shown(async () => state(await client.settle(id, '-3.51')));
  await shown(async () => state(await client.settle(id, '-1.25')));
  await shown(async () => state(await client.settle(id, '-1.25')));
  await shown(async () => state(await client.settle(id, -1)));
  await shown(async () => state(await client.release(id)));
  await shown(async () => state(await client.release('none')));
  await shown(async () => state(await client.holdAll([{ name, delta: -1 }, { name: other, delta: -2n, floor: 0 }],
    { ttlMillis, id: 'h2', excess: true })));
  await shown(async () => state(await client.settle('h2', { [name]: 0, [other]: -3 })));
  await shown(async () => state(await client.hold(name, -1, { ttlMillis, id: 'h3', late: true })));
  await shown(async () => state(await client.release('h3')));
  await shown(async () => state(await client.release('h3')));
  await shown(async () => texts(await client.transaction(transfer, { id: 't1' })));
  await shown(async () => texts(await client.transaction(transfer, { id: 't1' })));
  await shown(async () => texts(await client.transaction([{ name: other, delta: 1 }, { name, delta: -9, floor: 0 }])));
  await shown(async () => {
    const { outcome, adds } = await client.transactionOutcome('t1');
    return `${outcome} ${texts(adds)}`;
  });
  await shown(async () => {
    const { outcome, hold } = await client.transactionOutcome('h2');
    return `${outcome} ${state(hold)}`;
  });
  await shown(async () => (await client.transactionOutcome('t2')).outcome);
  await shown(async () => (await client.cancelTransaction('t2')).outcome);
  await shown(async () => texts(await client.transaction([{ name, delta: 1 }], { id: 't2' })));
  await shown(async () => state(await client.hold(name, -1, { ttlMillis: 500 })));
  await shown(async () => state(await client.hold(name, 0.5, { ttlMillis })));
  // @ts-expect-error: a transaction has one id for all adds
  await shown(async () => texts(await client.transaction([{ name, delta: 1, id: 't3' }])));
}

/** Concurrent transactions, and holds of 0.02, of which half keep 0.01. */
async function cycles(calls: number, concurrent: number): Promise<string> {
  let [next, done] = [0, 0];
  await Promise.all(Array.from({ length: concurrent }, async () => {
    for (let number = next++; number < calls; number = next++, done++) {
      if (number % 3 === 2) {
        await client.transaction([{ name, delta: '-0.01' }, { name: name + 'i', delta: 1 }]);
        continue;
      }
      const { id } = await client.hold(name, '-0.02', { ttlMillis: 600_000 });
      await client.extend(id, 300_000);
      await (number % 3 === 0 ? client.settle(id, '-0.01') : client.release(id));
    }
  }));
  return `done ${done}`;
}

async function open(): Promise<number> {
  const ids = new Set<string>();
  for await (const { id } of client.holds(name)) ids.add(id);
  return ids.size;
}

switch (mode) {
  case 'many': console.log(await many(Number(first), Number(second))); break;
  case 'add': await shown(async () => text(await client.add(name, BigInt(first), { id: second, floor: 0n }))); break;
  case 'set': await shown(async () => client.set(name, BigInt(first)).then(() => 'set')); break;
  case 'read': await shown(async () => String((await client.read(name))?.value)); break;
  case 'decimals': await decimals(); break;
  case 'holds': await holds(); break;
  case 'cycles':
    await client.setScale(name, 2);
    console.log(await cycles(Number(first), Number(second)));
    break;
  case 'openings': {
    let left = Number(first);
    await Promise.all(Array.from({ length: Number(second) }, async () => {
      while (left-- > 0) await client.hold(name, 1, { ttlMillis: 600_000 });
    }));
    console.log(await open());
    break;
  }
  case 'open': console.log(await open()); break;
  case 'hold':
    await shown(async () => state(await client.hold(name, first, { ttlMillis: 600_000, floor: 0, id: second })));
    break;
  case 'settle': await shown(async () => state(await client.settle(name, first))); break;
  default: await tour();
}
