import assert from 'node:assert/strict';
import { Batch, GlideClient, ProtocolVersion, TimeUnit } from '@valkey/valkey-glide';
import { answered, port, restart, step } from './steps.mjs';

const options = {
  addresses: [{ host: '127.0.0.1', port }],
  requestTimeout: 5_000,
  connectionBackoff: { numberOfRetries: 5, factor: 100, exponentBase: 1 },
};
let redis;
let other;

await step('connect', async () => {
  redis = await GlideClient.createClient({ ...options, clientName: 'glide' });
  other = await GlideClient.createClient({ ...options, protocol: ProtocolVersion.RESP2 });
  assert.equal(await redis.ping(), 'PONG');
});
await step('count', async () => {
  assert.equal(await redis.incr('a'), 1);
  assert.equal(await redis.incrBy('a', 41), 42);
  assert.equal(await redis.get('a'), '42');
  assert.equal(await redis.set('a', '7'), 'OK');
  assert.equal(await redis.decr('a'), 6);
  assert.equal(await redis.get('none'), null);
  assert.equal(await redis.set('e', '1', { expiry: { type: TimeUnit.Seconds, count: 60 } }), 'OK');
  assert.ok((await redis.ttl('e')) > 50);
  await assert.rejects(redis.set('a', 'text'), /only integers/);
});
await step('pipeline', async () => {
  const pipeline = new Batch(false);
  for (let i = 0; i < 100; i++) {
    pipeline.incr('p');
  }
  assert.deepEqual(
    await redis.exec(pipeline, true),
    Array.from({ length: 100 }, (_, i) => i + 1),
  );
});
await step('transaction', async () => {
  const transaction = new Batch(true).incr('t').decrBy('t', 3).get('t');
  assert.deepEqual(await redis.exec(transaction, true), [1, -2, '-2']);
});
await step('watch', async () => {
  await redis.watch(['t']);
  assert.deepEqual(await redis.exec(new Batch(true).incr('t'), true), [-1]);
  await redis.watch(['t']);
  await other.incr('t');
  assert.equal(await redis.exec(new Batch(true).incr('t'), true), null);
  assert.equal(await redis.get('t'), '0');
});
await step('reconnect', async () => {
  await restart();
  await answered(() => redis.ping());
  assert.equal(await redis.incr('a'), 7);
  assert.equal(await redis.get('p'), '100');
});
redis.close();
other.close();
