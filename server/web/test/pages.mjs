// Drives the page in Chromium: node test/pages.mjs URL CHROMIUM [DIRECTORY OF SCREENSHOTS]
// The server counts on its engine; another, at the address in BOUNDED, in shards within bounds; a third, in GUARDED, requires
// TOKEN, or READ_TOKEN to read. Prints what failed, and exits with 1.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { chromium } from 'playwright-core';

const [base, program, pictures] = process.argv.slice(2);
const { BOUNDED: bounded, GUARDED: guarded, TOKEN, READ_TOKEN } = process.env;
const AXE = readFileSync(new URL('../node_modules/axe-core/axe.min.js', import.meta.url), 'utf8');
const STRANGE = ['<script>alert(1)</script>', 'a"b\'c', '\u202egnp.exe', 'views/ü/%2F?#', 'x'.repeat(500)];
const PATIENCE_MILLIS = 120_000; // of a page on a busy machine: nothing waits so long unless it fails
const SIZES = [{ width: 360, height: 740 }, { width: 1280, height: 800 }];

async function call(method, path, body, headers = {}) {
  const response = await fetch(base + path, {
    method,
    headers: { ...(body ? { 'Content-Type': 'application/json' } : {}), ...headers },
    body: body && JSON.stringify(body),
  });
  return response.status === 204 ? {} : response.json();
}

const path = (name) => `/v1/counters/${encodeURIComponent(name)}`;
const add = (name, delta) => call('POST', `${path(name)}/add`, { delta });

const begun = new Date().toISOString();
const view = (url, clientId) => call('POST', '/v1/views', { url, clientId, time: begun });

/** Opens a page that fails on an error of its script, on a violation of the policy, and on a request elsewhere. */
async function open(browser, options, from = base) {
  const context = await browser.newContext(options);
  context.setDefaultTimeout(PATIENCE_MILLIS);
  const page = await context.newPage();
  const faults = [];
  page.on('console', (message) => {
    if (message.type() === 'error' && !/status of 4\d\d/.test(message.text())) {
      faults.push(message.text());
    }
  });
  page.on('pageerror', (error) => faults.push(String(error)));
  page.on('request', (request) => {
    if (!request.url().startsWith(from) && !request.url().startsWith('data:')) {
      faults.push(`a request to ${request.url()}`);
    }
  });
  return { page, faults, close: () => context.close() };
}

async function checkLooks(page, what) {
  await page.evaluate(AXE);
  const { violations } = await page.evaluate(() => window.axe.run());
  assert.deepEqual(
    violations.map((each) => `${each.id}: ${each.nodes.map((node) => node.html).join(' ')}`),
    [],
    what,
  );
  const [needed, there] = await page.evaluate(() => [
    document.documentElement.scrollWidth, document.documentElement.clientWidth,
  ]);
  assert.ok(needed <= there, `${what} is ${needed} wide, in a window of ${there}`);
}

const PLACES = {
  overview: '#/',
  counters: '#/counters?prefix=views/',
  search: '#/counters?q=script',
  counter: '#/counter?name=views/home',
  missing: '#/counter?name=nothing',
  views: '#/views',
  page: '#/views?url=https://blog.example/a',
  series: '#/series',
  records: '#/series?records=invoices/2026',
  revisions: '#/series?revisions=users',
  changed: '#/counters?sort=-change',
  failures: '#/failures?run=add,drop-reply,partition&seed=3',
  server: '#/server',
};

const TESTS = {
  async 'every page in every size and mode'(browser) {
    for (const viewport of SIZES) {
      for (const colorScheme of ['light', 'dark']) {
        const { page, faults, close } = await open(browser, {
          viewport, colorScheme, reducedMotion: viewport.width < 400 ? 'reduce' : 'no-preference',
        });
        for (const [name, place] of Object.entries(PLACES)) {
          await page.goto(base + '/' + place);
          await page.waitForSelector('h1');
          await page.waitForSelector('.state.live');
          await page.waitForTimeout(300);
          await checkLooks(page, `${name} at ${viewport.width}, ${colorScheme}`);
          if (pictures) {
            await page.screenshot({ path: `${pictures}/${name}-${viewport.width}-${colorScheme}.png` });
          }
        }
        assert.deepEqual(faults, []);
        await close();
      }
    }
  },

  async 'a value changes where it is shown'(browser) {
    const { page, faults, close } = await open(browser, {});
    await page.goto(`${base}/#/counter?name=live`);
    await page.waitForSelector('text=never counted');
    await add('live', 41);
    await page.waitForSelector('.figure:text-is("41")');
    await add('live', 1);
    await page.waitForSelector('.figure:text-is("42")');
    await page.waitForSelector('canvas');
    await call('DELETE', path('live'));
    await page.waitForSelector('text=never counted');
    await page.goto(`${base}/#/counters?q=views/home`);
    const before = (await call('GET', path('views/home'))).value;
    await page.waitForSelector(`td.number:text-is("${before}")`);
    await add('views/home', 1);
    await page.waitForSelector(`td.changed:text-is("${Number(before) + 1}")`);
    await page.goto(`${base}/#/`);
    // A change is known of a counter of which two values have arrived, whenever the page begins to receive them.
    const mover = page.locator('#movers ~ div table a:has-text("views/home")');
    for (let adds = 0; (await mover.count()) === 0; adds++) {
      assert.ok(adds < 1000, 'no counter moves');
      await add('views/home', 1);
      await page.waitForTimeout(100);
    }
    assert.deepEqual(faults, []);
    await close();
  },

  async 'the buttons count, once under an id, and within a bound'(browser) {
    const { page, faults, close } = await open(browser, {});
    await page.goto(`${base}/#/counter?name=stock`);
    await page.getByRole('button', { name: '+1', exact: true }).click();
    await page.waitForSelector('.results li.applied:has-text("now 1")');
    await page.getByRole('button', { name: 'Repeat the last one' }).click();
    await page.waitForSelector('.results li.applied:has-text("already counted")');
    assert.equal((await call('GET', path('stock'))).value, '1');
    const less = page.getByRole('button', { name: '−1, not below 0' });
    await less.click();
    await page.waitForSelector('.results li:has-text("now 0")');
    await less.click();
    await page.waitForSelector('.results li.rejected');
    assert.equal((await call('GET', path('stock'))).value, '0');
    await page.getByLabel('Amount').fill('25');
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await page.waitForSelector('.results li.applied:has-text("now 25")');
    await page.getByText('The same as a command').click();
    assert.match(await page.locator('.code').first().innerText(), /"delta":"25"/);
    await call('POST', `${path('stock')}/add`, { delta: 2 }, { 'Idempotency-Key': '"o-1"' });
    await page.getByLabel('Request id').fill('o-1');
    await page.getByRole('button', { name: 'Look up' }).click();
    await page.waitForSelector('text=applied 2');
    for (const text of ['applied', 'replayed', 'rejected: below the floor']) {
      await page.waitForSelector(`#recent ~ div table td:text-is("${text}")`);
    }
    await call('POST', `${path('stock')}/holds`, { delta: -5, floor: 0, ttl: 'PT1H' }, { 'Idempotency-Key': '"h-1"' });
    await page.reload();
    await page.waitForSelector('h2:text-is("Open holds")');
    await page.waitForSelector('dt:text-is("May be taken")');
    assert.deepEqual(faults, []);
    await close();
  },

  async 'a lost reply is unknown, and its repeat counts once'(browser) {
    const { page, close } = await open(browser, {});
    await page.goto(`${base}/#/counter?name=lossy`);
    await page.waitForSelector('text=never counted');
    let dropped = false;
    await page.route('**/add', async (route) => {
      if (!dropped) {
        dropped = true;
        await route.fetch(); // the server counts, and the reply is lost
        await route.abort('connectionreset');
      } else {
        await route.continue();
      }
    });
    await page.getByRole('button', { name: '+1', exact: true }).click();
    await page.waitForSelector('.results li.unknown');
    await page.getByRole('button', { name: 'Repeat the last one' }).click();
    await page.waitForSelector('.results li.applied:has-text("already counted")');
    assert.equal((await call('GET', path('lossy'))).value, '1');
    await close();
  },

  async 'the past is shown'(browser) {
    const { page, faults, close } = await open(browser, {});
    await page.goto(`${base}/#/counter?name=views/past`);
    await page.waitForSelector('strong:text-is("+7")');
    await page.getByLabel('Period').selectOption('The last 60 minutes');
    await page.waitForSelector('[aria-label="Changes of each minute"] canvas');
    await page.waitForSelector('strong:text-is("0")');
    await page.goto(`${base}/#/counter?name=stock`);
    await page.waitForSelector('text=No past of this counter is kept');
    await page.waitForSelector("pre:has-text('stock=minute:2d')");
    assert.deepEqual(faults, []);
    await close();
  },

  async 'pages with views, and who is online'(browser) {
    const { page, faults, close } = await open(browser, {});
    await page.goto(`${base}/#/views`);
    await page.getByLabel('Order').selectOption('-value');
    const first = page.locator('#pages ~ div table tbody tr').first();
    await first.getByText('https://blog.example/a').waitFor();
    assert.equal(await first.locator('.number').innerText(), '3');
    await page.getByLabel('Order').selectOption('-change');
    await page.waitForSelector('#pages ~ .note:has-text("Since ")');
    await page.getByLabel('Order').selectOption('url');
    await page.getByLabel('URL contains').fill('BLOG.example/B');
    await page.getByRole('button', { name: 'Search' }).click();
    const only = '#pages ~ div table tr:nth-child(1):last-child td:has-text("example/b")';
    await page.waitForSelector(only);
    await page.reload(); // the search and the order are in the address
    await page.waitForSelector(only);
    assert.equal(await page.getByLabel('Order').inputValue(), 'url');
    for (const clientId of ['c1', 'c2', 'c2']) {
      await call('POST', '/v1/presence/lobby', { clientId });
    }
    await page.getByLabel('Room').fill('lobby');
    await page.getByRole('button', { name: 'Show' }).click();
    await page.waitForSelector('#online ~ .figure:text-is("2")');
    await page.getByRole('link', { name: 'https://blog.example/b' }).click();
    await page.waitForSelector('#unique ~ .figure:text-is("1")');
    await page.waitForSelector('[aria-label="Views of each hour"] canvas');
    await view('https://blog.example/b', 'c9');
    await page.waitForSelector('#unique ~ .figure:text-is("2")');
    await page.getByRole('link', { name: 'All pages' }).click();
    await page.waitForSelector('#pages');
    assert.deepEqual(faults, []);
    await close();
  },

  async 'series of records and of revisions'(browser) {
    const { page, faults, close } = await open(browser, {});
    await page.goto(`${base}/#/series`);
    await page.getByLabel('Another series').fill('invoices/2027');
    await page.getByRole('button', { name: 'Open' }).click();
    await page.getByLabel('Record').fill('{"total":"12.50"}');
    await page.getByRole('button', { name: 'Take the next number' }).click();
    await page.waitForSelector('.results li.applied:text-is("number 1")');
    await page.getByRole('button', { name: 'Repeat the last one' }).click();
    await page.waitForSelector('.results li.applied:has-text("the same as before")');
    await page.waitForSelector('#records ~ table td:has-text("12.50")');
    assert.equal((await call('GET', '/v1/sequences/invoices%2F2027')).last, '1');
    await page.getByRole('link', { name: 'All series' }).click();
    await page.getByRole('link', { name: 'users' }).click();
    await page.waitForSelector('#revisions ~ table td:text-is("delete")');
    assert.equal(await page.locator('#entities ~ .figure').innerText(), '0');
    assert.deepEqual(faults, []);
    await close();
  },

  async 'counters by change, and what became of adds'(browser) {
    const { page, faults, close } = await open(browser, {});
    await add('views/home', 100);
    await page.goto(`${base}/#/counters`);
    await page.getByLabel('Order').selectOption('-change');
    await page.waitForSelector('#found ~ div table th:text-is("Change")');
    await page.waitForSelector('#found ~ div table tbody tr:first-child a:has-text("views/home")');
    await page.goto(`${base}/#/`);
    const figure = (title) => page.locator(`dt:has-text("${title}") ~ dd`);
    await page.waitForFunction(() => {
      const found = Array.from(document.querySelectorAll('.figures dt'))
        .find((each) => each.textContent === 'Repeats, not counted again');
      return found && Number(found.nextSibling.textContent) > 0;
    });
    assert.ok(Number((await figure('Since the start').innerText()).replaceAll(/\D/g, '')) > 10);
    await page.goto(`${base}/#/server`);
    await page.waitForSelector('#figures ~ dl dt:text-is("Counters")');
    await page.waitForSelector('#techniques ~ details[open] summary:has-text("engine (this server)")');
    await page.locator('#techniques ~ details summary:has-text("marker-item")').click();
    await page.waitForSelector('#techniques ~ details[open] p:visible >> nth=1');
    assert.deepEqual(faults, []);
    await close();
  },

  async 'the log of the server is shown'(browser) {
    const { page, faults, close } = await open(browser, {});
    await page.goto(`${base}/#/server`);
    await page.waitForSelector('#events ~ div table td.bad:text-is("warn")');
    await page.waitForSelector('#events ~ div table td:has-text("a <b>test</b>")');
    await page.waitForSelector('#events ~ div table .note:has-text("reason: none")');
    assert.deepEqual(faults, []);
    await close();
  },

  async 'a counter in shards, between its bounds'(browser) {
    const { page, faults, close } = await open(browser, {}, bounded);
    await page.goto(`${bounded}/#/counter?name=seats`);
    await page.getByLabel('Amount').fill('7');
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await page.waitForSelector('.results li.applied');
    await page.waitForSelector('p:has-text("not below 0, not above 10")');
    await page.waitForFunction(() => document.querySelector('meter')?.value === 7);
    await page.getByRole('button', { name: 'Repeat the last one' }).click();
    await page.waitForSelector('.results li.applied:has-text("already counted")');
    await page.getByLabel('Amount').fill('4');
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await page.waitForSelector('.results li.rejected');
    await page.waitForSelector('#parts ~ div table th:text-is("May add by itself")');
    await checkLooks(page, 'bounds');
    assert.equal(await page.locator('#recent').count(), 0);
    await page.goto(`${bounded}/#/server`);
    await page.waitForSelector('#techniques ~ details[open] summary:has-text("(this server)")');
    assert.deepEqual(faults, []);
    await close();
  },

  async 'sign in, also with a token that only reads'(browser) {
    const { page, faults, close } = await open(browser, {}, guarded);
    const signIn = async (token) => {
      await page.getByLabel('Token').fill(token);
      await page.getByRole('button', { name: 'Sign in' }).click();
    };
    await page.goto(`${guarded}/#/counter?name=secret`);
    await signIn('wrong-token-0123456789');
    await page.waitForSelector('[role="alert"]:has-text("does not accept this token")');
    await checkLooks(page, 'sign in');
    await signIn(TOKEN);
    await page.getByRole('button', { name: '+1' }).click();
    await page.waitForSelector('.results li.applied:has-text("now 1")');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await signIn(READ_TOKEN);
    await page.waitForSelector('#count ~ .note:has-text("only reads")');
    assert.equal(await page.getByRole('button', { name: '+1' }).count(), 0);
    await page.goto(`${guarded}/#/series?records=invoices`);
    await page.waitForSelector('.note:has-text("only reads")');
    assert.deepEqual(faults, []);
    await close();
  },

  async 'failures do what each technique states'(browser) {
    const { page, faults, close } = await open(browser, {});
    await page.goto(`${base}/#/failures`);
    await page.waitForSelector('h1');
    const counts = () => page.locator('.figure').allInnerTexts();
    for (const [button, expected] of [
      ['Add 1', ['1', '1', '1', '1']],
      ['Drop the reply', ['2', '2', '3 (+1)', '2']],
      ['Deliver twice', ['3', '4 (+1)', '5 (+2)', '3']],
    ]) {
      await page.getByRole('button', { name: button }).click();
      await page.waitForFunction(
        (texts) => JSON.stringify(Array.from(document.querySelectorAll('.figure'), (each) => each.innerText)) === texts,
        JSON.stringify(expected),
      );
    }
    await page.getByRole('button', { name: 'Partition the region' }).click();
    await page.getByRole('button', { name: 'Kill the writer' }).click();
    await page.waitForSelector('.figure:text-is("9")');
    const [truth, , repeated, exact] = await counts();
    assert.equal(exact, truth);
    assert.match(repeated, /\(\+/);
    const before = await counts();
    await page.reload(); // the address has the run
    await page.waitForSelector('.figure:text-is("9")');
    assert.deepEqual(await counts(), before);
    await page.getByLabel('Technique 1').selectOption('token-set');
    await page.waitForFunction(() => document.querySelectorAll('.figure')[1].innerText === '9');
    await page.getByLabel('Seed').fill('5');
    await page.keyboard.press('Tab');
    await page.waitForSelector('pre:has-text("--seed 5")');
    assert.equal(await page.locator('#again').count(), 1);
    await page.getByRole('button', { name: 'Start again' }).click();
    await page.waitForSelector('.figure:text-is("0")');
    assert.deepEqual(faults, []);
    await close();
  },

  async 'thresholds are shown, and whether their webhooks fail'(browser) {
    const webhook = 'http://127.0.0.1:1/nothing-listens';
    const defined = await call('PUT', '/v1/thresholds/low', { prefix: 'crossed/', at: 5, direction: 'up', webhook });
    assert.equal(defined.id, 'low');
    await add('crossed/a', 7);
    const { page, faults, close } = await open(browser, {});
    await page.goto(`${base}/#/counter?name=crossed/a`);
    await page.waitForSelector('#thresholds ~ div table td .bad:has-text("cannot connect to 127.0.0.1:1")');
    await checkLooks(page, 'thresholds');
    await page.goto(`${base}/#/counter?name=views/home`);
    await page.waitForSelector('.figure');
    assert.equal(await page.locator('#thresholds').count(), 0);
    await page.goto(`${base}/#/server`); // with all of them
    await page.click('#thresholds ~ div table a:has-text("crossed/")');
    await page.waitForSelector('a:has-text("crossed/a")');
    await call('DELETE', '/v1/thresholds/low');
    assert.deepEqual(faults, []);
    await close();
  },

  async 'a counter is shown on another page'(browser) {
    await add('views/"embedded"', 4);
    const { page, faults, close } = await open(browser, {});
    await page.goto(`${base}/#/counter?${new URLSearchParams({ name: 'views/"embedded"' })}`);
    await page.getByText('A badge, or the number').click();
    const [image, script] = await page.locator('#embed ~ details pre').allInnerTexts();
    const other = await browser.newPage();
    other.setDefaultTimeout(PATIENCE_MILLIS);
    await other.setContent(`<body>${image}${script.replace(' async', ' data-every="1"')}</body>`);
    await other.waitForSelector('.quipu-counter:text-is("4")');
    await add('views/"embedded"', 1);
    await other.waitForSelector('.quipu-counter:text-is("5")');
    assert.ok(await other.evaluate(() => document.querySelector('img').naturalWidth > 40));
    await other.close();
    assert.deepEqual(faults, []);
    await close();
  },

  async 'strange names are text'(browser) {
    const { page, faults, close } = await open(browser, {});
    page.on('dialog', (dialog) => faults.push(`a dialog: ${dialog.message()}`));
    await page.goto(`${base}/#/counters`);
    for (const name of STRANGE) {
      await page.goto(`${base}/#/counters?${new URLSearchParams({ q: name })}`);
      const link = page.locator(`td a[href="#/counter?${new URLSearchParams({ name })}"]`).first(); // not of the list before
      await link.waitFor();
      const text = await link.innerText();
      assert.ok(!/[\u202a-\u202e]/.test(text), text);
      await link.click();
      await page.waitForSelector('.figure:text-is("1")');
      assert.equal(await page.locator('h1 script').count(), 0);
    }
    assert.deepEqual(faults, []);
    await close();
  },

  async 'the keyboard is enough'(browser) {
    const { page, faults, close } = await open(browser, {});
    await page.goto(`${base}/#/counter?name=keys`);
    await page.waitForSelector('text=never counted');
    await page.keyboard.press('Tab');
    assert.equal(await page.evaluate(() => document.activeElement.textContent), 'Skip to the content');
    await page.keyboard.press('Enter');
    assert.equal(await page.evaluate(() => document.activeElement.id), 'main');
    for (let i = 0; i < 12; i++) {
      await page.keyboard.press('Tab');
      if (await page.evaluate(() => document.activeElement.textContent === '+1')) {
        break;
      }
    }
    await page.keyboard.press('Space');
    await page.waitForSelector('.results li.applied:has-text("now 1")');
    assert.deepEqual(faults, []);
    await close();
  },

  async 'it goes on after the connection was lost'(browser) {
    const { page, close } = await open(browser, {});
    await page.goto(`${base}/#/counter?name=again`);
    await page.waitForSelector('.state.live');
    await page.context().setOffline(true);
    await page.context().setOffline(false);
    await add('again', 3);
    await page.waitForSelector('.figure:text-is("3")');
    await close();
  },
};

const browser = await chromium.launch({ executablePath: program, args: ['--no-sandbox', '--disable-dev-shm-usage'] });
let failed = 0;
try {
  await add('views/home', 12);
  await add('views/about', 3);
  for (const name of STRANGE) {
    await add(name, 1);
  }
  for (const [url, client] of [['a', 'c1'], ['a', 'c2'], ['a', 'c3'], ['a', 'c3'], ['b', 'c1']]) {
    await view(`https://blog.example/${url}`, client);
  }
  await call('POST', '/v1/sequences/invoices%2F2026/next', { payload: 'a <b>record</b>' });
  for (const kind of ['insert', 'update', 'delete']) {
    await call('POST', '/v1/revisions/users', { entity: 'ann', kind });
  }
  for (const [name, test] of Object.entries(TESTS)) {
    try {
      await test(browser);
      console.log(`passed: ${name}`);
    } catch (error) {
      failed++;
      console.log(`failed: ${name}\n${error.stack}`);
    }
  }
} finally {
  await browser.close();
}
process.exit(failed === 0 ? 0 : 1);
