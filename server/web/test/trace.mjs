// Measures what pages cost a browser: node test/trace.mjs URL CHROMIUM SECONDS
// Prints a line of JSON for each page; ./dev bench page runs it.
import { readFileSync } from 'node:fs';
import { chromium } from 'playwright-core';

const [base, program, seconds] = process.argv.slice(2);
const PAGES = {
  overview: '#/',
  'list of counters': '#/counters?prefix=page/',
  'one counter': '#/counter?name=page/000001',
};
const CATEGORIES = ['devtools.timeline', 'disabled-by-default-devtools.timeline', 'toplevel', '__metadata'];
const WARM_UP_MILLIS = 5000;

/** The time of the main thread between each two frames, in milliseconds of the processor. */
function frames(trace, pid) {
  const main = trace.find((each) => each.name === 'thread_name' && each.pid === pid && each.args.name === 'CrRendererMain');
  const events = trace.filter((each) => each.pid === pid && each.tid === main.tid);
  const starts = events.filter((each) => each.name === 'FireAnimationFrame').map((each) => each.ts).sort((a, b) => a - b);
  const costs = new Array(Math.max(0, starts.length - 1)).fill(0);
  for (const each of events) {
    if (each.name === 'RunTask' && each.ph === 'X') {
      const frame = starts.findLastIndex((start) => start <= each.ts);
      if (frame >= 0 && frame < costs.length) {
        costs[frame] += (each.tdur ?? each.dur) / 1000;
      }
    }
  }
  return costs.sort((a, b) => a - b);
}

/** The memory of a process that no other one shares, in MB. */
function privateMegabytes(pid) {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/RssAnon:\s+(\d+)/.exec(status)[1]) / 1024;
}

async function measure(browser, name, place) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  const client = await page.context().newCDPSession(page);
  await client.send('Network.enable');
  await client.send('Performance.enable');
  let bytes = 0;
  client.on('Network.dataReceived', (event) => {
    bytes += event.encodedDataLength;
  });
  await page.goto(`${base}/${place}`);
  await page.waitForSelector('.state.live');
  // A frame each 16.7 ms, also if nothing is to be drawn: what comes between two of them delays one.
  await page.evaluate(() => {
    const next = () => requestAnimationFrame(next);
    next();
  });
  await page.waitForTimeout(WARM_UP_MILLIS);
  bytes = 0;
  const begun = Date.now();
  await browser.startTracing(page, { categories: CATEGORIES });
  await page.waitForTimeout(seconds * 1000);
  const trace = JSON.parse((await browser.stopTracing()).toString()).traceEvents;
  const passed = (Date.now() - begun) / 1000;
  const pid = trace.find((each) => each.name === 'TracingStartedInBrowser').args.data.frames
    .find((each) => each.url.startsWith(base)).processId;
  const costs = frames(trace, pid);
  const { metrics } = await client.send('Performance.getMetrics');
  console.log(JSON.stringify({
    page: name,
    frames: costs.length,
    p95: costs[Math.floor(costs.length * 0.95)],
    max: costs.at(-1),
    heap: metrics.find((each) => each.name === 'JSHeapUsedSize').value / 2 ** 20,
    memory: privateMegabytes(pid),
    bytes: bytes / passed / 1e6,
  }));
  await page.close();
}

const browser = await chromium.launch({ executablePath: program, args: ['--no-sandbox', '--disable-dev-shm-usage'] });
try {
  for (const [name, place] of Object.entries(PAGES)) {
    await measure(browser, name, place);
  }
} finally {
  await browser.close();
}
