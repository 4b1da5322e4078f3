// Counts a view of the page that embeds it: <script src="https://HOST/views.js" async></script>
//   data-wait    seconds until the view is sent, 5 by default: leaving a page at once does not count
//   data-origin  origin of the server that counts, if the script is loaded from elsewhere
// It sends nothing for robots and if Do Not Track is set. Without a reply, and after 429 or a server
// error, it sends the same event again: url, time and client id identify it, so it counts once.
(function () {
  'use strict';
  var ATTEMPTS_MAX = 8;
  var BACKOFF_MILLIS = 1000; // after the first attempt; doubled after each further one
  var RETRY_AFTER_MILLIS_MAX = 3600000; // a server that asks for more gets no further attempt
  var REPLY_MILLIS_MAX = 30000;
  var WAIT_SECONDS_MAX = 86400; // timers overflow after 24 days

  var script = document.currentScript;
  var server = origin(attribute('data-origin') || script.src);
  var robot = /bot|crawl|spider|slurp|preview|headless|lighthouse/i;
  var attempts = 0;
  var timer = null; // of the next attempt

  if (!server) {
    console.error('quipu: data-origin is not an origin, such as https://counts.example');
    return;
  }
  if (navigator.doNotTrack === '1' || window.doNotTrack === '1' ||
      navigator.globalPrivacyControl || navigator.webdriver || robot.test(navigator.userAgent)) {
    return;
  }

  function origin(text) {
    try {
      var url = new URL(text);
      return /^https?:$/.test(url.protocol) ? url.origin : null;
    } catch (e) {
      return null;
    }
  }

  function attribute(name) {
    return script && script.getAttribute(name);
  }

  function waitMillis() {
    var text = (attribute('data-wait') || '').trim();
    var seconds = text ? Number(text) : 5;
    return seconds >= 0 && seconds <= WAIT_SECONDS_MAX ? 1000 * seconds : 5000;
  }

  function random() {
    var bytes = crypto.getRandomValues(new Uint8Array(16));
    return Array.from(bytes, function (b) { return b.toString(16).padStart(2, '0'); }).join('');
  }

  function client() {
    try {
      var known = localStorage.getItem('quipu-client') || random();
      localStorage.setItem('quipu-client', known);
      return known;
    } catch (e) { // storage is disabled: every page view counts as another client
      return random();
    }
  }

  var event = JSON.stringify({
    url: location.host + location.pathname,
    time: new Date().toISOString(),
    clientId: client()
  });

  // keepalive: the browser completes the request after the page is left. Unlike sendBeacon, fetch
  // returns the status and sends no cookies.
  function send() {
    timer = null;
    attempts++;
    fetch(server + '/v1/views', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: event,
      credentials: 'omit',
      keepalive: true,
      signal: window.AbortSignal && AbortSignal.timeout ? AbortSignal.timeout(REPLY_MILLIS_MAX) : null
    }).then(function (response) {
      if (response.status === 429 || response.status >= 500) {
        sendLater(retryAfterMillis(response.headers.get('Retry-After')));
      }
    }, function () { sendLater(0); });
  }

  // Retry-After is a number of seconds or a date.
  function retryAfterMillis(text) {
    var millis = /^\d+$/.test(text || '') ? 1000 * Number(text) : Date.parse(text) - Date.now();
    return millis > 0 ? millis : 0;
  }

  function sendLater(millisMin) {
    if (attempts >= ATTEMPTS_MAX || millisMin > RETRY_AFTER_MILLIS_MAX) {
      return;
    }
    var backoff = BACKOFF_MILLIS * Math.pow(2, attempts - 1);
    // Up to half is random, so that the pages of many clients do not send at the same time.
    timer = setTimeout(send, millisMin + backoff * (0.5 + Math.random() / 2));
  }

  // A view that waits for its next attempt is sent when the page is left.
  window.addEventListener('pagehide', function () {
    if (timer !== null) {
      clearTimeout(timer);
      send();
    }
  });

  setTimeout(send, waitMillis());
})();
