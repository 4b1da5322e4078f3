import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';

const RECONNECT_MS = 20_000;
const PAUSE_MS = 50;

export const port = Number(process.argv[2]);

/** Does one step, and says so when all of it was right. */
export async function step(name, does) {
  await does();
  console.log(name);
}

/** Lets the test restart the server. */
export async function restart() {
  const lines = createInterface({ input: process.stdin });
  console.log('ready to reconnect');
  await once(lines, 'line');
  lines.close();
  process.stdin.destroy();
}

/** Pings until the client is connected again: unlike an INCR, a PING may be repeated. */
export async function answered(ping) {
  const end = Date.now() + RECONNECT_MS;
  for (;;) {
    try {
      return await ping();
    } catch (e) {
      if (Date.now() > end) {
        throw e;
      }
      await pause(PAUSE_MS);
    }
  }
}
