// Runs views.js as a browser does that opens pages: `node page.mjs SERVER SETUP`, where SETUP is JSON:
//   pages      how many pages are opened one after the other, in one browser
//   attributes of the script element
//   navigator, window, storage (false: it is switched off), lost (replies that are lost)
//   script     address of the script, other than that of the server
//   replies    [status, Retry-After], sent instead of the first requests
//   leave      whether the page is left once a request has failed
//   replace    [from, to] in the script, for scripts that are wrong on purpose
// Prints a line for each timer, "wait MILLIS", and for each request, "send STATUS BODY".
import vm from 'node:vm';

const [server, setupText] = process.argv.slice(2);
const setup = { pages: 1, attributes: {}, navigator: {}, window: {}, storage: true, lost: 0,
  replies: [], ...JSON.parse(setupText) };
const origin = 'https://blog.example';

let text = await (await fetch(server + '/views.js')).text();
if (setup.replace) {
  const [from, to] = setup.replace;
  if (!text.includes(from)) {
    throw new Error('the script does not have ' + from);
  }
  text = text.replace(from, to);
}

const stored = new Map();
const localStorage = {
  getItem(key) {
    check();
    return stored.has(key) ? stored.get(key) : null;
  },
  setItem(key, value) {
    check();
    stored.set(key, String(value));
  }
};

function check() {
  if (!setup.storage) {
    throw new Error('SecurityError');
  }
}

async function open() {
  const timers = [];
  const requests = [];
  const onLeave = [];
  const page = {
    URL, JSON, Date, Array, Uint8Array, crypto, AbortSignal,
    Math: { pow: Math.pow, random: () => 1 },
    document: {
      currentScript: {
        src: setup.script ?? server + '/views.js',
        getAttribute: name => setup.attributes[name] ?? null
      }
    },
    navigator: { userAgent: 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0)', ...setup.navigator },
    location: new URL(origin + '/article?utm=mail#comments'),
    localStorage,
    setTimeout(action, millis) {
      console.log('wait ' + millis);
      timers.push(action);
      return timers.length;
    },
    clearTimeout(timer) {
      console.log('clear');
      timers[timer - 1] = () => {};
    },
    addEventListener(type, action) {
      if (type === 'pagehide') {
        onLeave.push(action);
      }
    },
    fetch(url, options) {
      const request = send(url, options);
      requests.push(request.catch(() => {}));
      return request;
    }
  };
  page.window = Object.assign(page, setup.window);
  vm.runInNewContext(text, page);
  for (let next = 0; next < timers.length; next++) { // time passes
    timers[next]();
    await Promise.all(requests.splice(0));
    await new Promise(resolve => setImmediate(resolve));
    if (setup.leave) {
      onLeave.forEach(action => action());
      await Promise.all(requests.splice(0));
      return;
    }
  }
}

async function send(url, options) {
  if (setup.replies.length > 0) {
    const [status, retryAfter] = setup.replies.shift();
    console.log('send ' + status + ' ' + options.body);
    return new Response('', { status, headers: retryAfter ? { 'Retry-After': retryAfter } : {} });
  }
  const reply = await fetch(url, { ...options, headers: { ...options.headers, Origin: origin } });
  await reply.text();
  console.log('send ' + reply.status + ' ' + options.body);
  if (setup.lost > 0) {
    setup.lost--;
    throw new TypeError('Failed to fetch');
  }
  return reply;
}

for (let i = 0; i < setup.pages; i++) {
  await open();
}
