// Calls of quipu.ts for ClientsIT: `node calls.js URL TOKEN DEADLINE_MILLIS MODE …`; TOKEN may be `-`.
import { NotAppliedError, OutcomeUnknownError, Quipu } from './quipu.ts';
import type { Added } from './quipu.ts';

declare const process: { argv: string[] };

const [url = '', token = '', deadline = '', mode = '', name = '', ...more] = process.argv.slice(2);
const client = new Quipu(url, { deadlineMillis: Number(deadline), ...(token !== '-' && { token }) });
const [first = '', second = ''] = more;

/** The outcome in one line. */
function line(result: unknown): string {
  if (result instanceof OutcomeUnknownError) return `unknown ${result.failure.code} ${result.id} | ${result.message}`;
  if (!(result instanceof NotAppliedError)) throw result;
  const { code, value } = result.failure;
  return `${result.isRejected ? 'rejected' : 'not-applied'} ${code} ${value ?? '-'} | ${result.message}`;
}

function text({ added, value, replayed }: Added): string {
  return `applied ${added} ${value ?? '-'} ${replayed}`;
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

switch (mode) {
  case 'many': console.log(await many(Number(first), Number(second))); break;
  case 'add': await shown(async () => text(await client.add(name, BigInt(first), { id: second, floor: 0n }))); break;
  case 'set': await shown(async () => client.set(name, BigInt(first)).then(() => 'set')); break;
  case 'read': await shown(async () => String((await client.read(name))?.value)); break;
  default: await tour();
}
