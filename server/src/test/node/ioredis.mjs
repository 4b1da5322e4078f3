import assert from 'node:assert/strict';
import { Redis } from 'ioredis';
import { answered, port, restart, step } from './steps.mjs';

// A repeated INCR counts twice: nothing is sent again, and nothing waits for a connection.
const options = {
  port,
  lazyConnect: true,
  autoResendUnfulfilledCommands: false,
  enableOfflineQueue: false,
  maxRetriesPerRequest: 0,
  retryStrategy: () => 100,
};
const redis = new Redis(options);
const other = new Redis(options);
for (const each of [redis, other]) {
  each.on('error', () => {}); // while the server is away
}

await step('connect', async () => {
  await redis.connect();
  await other.connect();
  assert.equal(await redis.ping(), 'PONG');
});
await step('count', async () => {
  assert.equal(await redis.incr('a'), 1);
  assert.equal(await redis.incrby('a', 41), 42);
  assert.equal(await redis.get('a'), '42');
  assert.equal(await redis.set('a', 7), 'OK');
  assert.equal(await redis.decr('a'), 6);
  assert.equal(await redis.get('none'), null);
  await assert.rejects(redis.set('a', 'text'), /only integers/);
});
await step('pipeline', async () => {
  const pipeline = redis.pipeline();
  for (let i = 0; i < 100; i++) {
    pipeline.incr('p');
  }
  assert.deepEqual(
    await pipeline.exec(),
    Array.from({ length: 100 }, (_, i) => [null, i + 1]),
  );
});
await step('transaction', async () => {
  assert.deepEqual(await redis.multi().incr('t').decrby('t', 3).get('t').exec(), [
    [null, 1],
    [null, -2],
    [null, '-2'],
  ]);
});
await step('watch', async () => {
  await redis.watch('t');
  assert.deepEqual(await redis.multi().incr('t').exec(), [[null, -1]]);
  await redis.watch('t');
  await other.incr('t');
  assert.equal(await redis.multi().incr('t').exec(), null);
  assert.equal(await redis.get('t'), '0');
});
await step('reconnect', async () => {
  await restart();
  await answered(() => redis.ping());
  assert.equal(await redis.incr('a'), 7);
  assert.equal(await redis.get('p'), '100');
});
redis.disconnect();
other.disconnect();
