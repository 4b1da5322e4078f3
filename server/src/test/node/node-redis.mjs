import assert from 'node:assert/strict';
import { createClient, WatchError } from 'redis';
import { answered, port, restart, step } from './steps.mjs';

// A repeated INCR counts twice: nothing waits for a connection.
const redis = createClient({
  socket: { host: '127.0.0.1', port, reconnectStrategy: () => 100 },
  disableOfflineQueue: true,
});
const other = redis.duplicate();
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
  assert.equal(await redis.incrBy('a', 41), 42);
  assert.equal(await redis.get('a'), '42');
  assert.equal(await redis.set('a', 7), 'OK');
  assert.equal(await redis.decr('a'), 6);
  assert.equal(await redis.get('none'), null);
  await assert.rejects(redis.set('a', 'text'), /only integers/);
});
await step('pipeline', async () => {
  // Commands given in one tick go out in one write.
  const all = Array.from({ length: 100 }, () => redis.incr('p'));
  assert.deepEqual(
    await Promise.all(all),
    Array.from({ length: 100 }, (_, i) => i + 1),
  );
  assert.deepEqual(await redis.multi().incr('p').get('p').execAsPipeline(), [101, '101']);
});
await step('transaction', async () => {
  assert.deepEqual(await redis.multi().incr('t').decrBy('t', 3).get('t').exec(), [1, -2, '-2']);
});
await step('watch', async () => {
  await redis.watch('t');
  assert.deepEqual(await redis.multi().incr('t').exec(), [-1]);
  await redis.watch('t');
  await other.incr('t');
  await assert.rejects(redis.multi().incr('t').exec(), WatchError);
  assert.equal(await redis.get('t'), '0');
});
await step('reconnect', async () => {
  await restart();
  await answered(() => redis.ping());
  assert.equal(await redis.incr('a'), 7);
  assert.equal(await redis.get('p'), '101');
});
redis.destroy();
other.destroy();
