// Counts a view of the page that embeds it: <script src="https://HOST/views.js" async></script>
// It waits (data-wait in seconds, 5 by default), so that leaving a page immediately does not count, and
// sends nothing for robots and if Do Not Track is set. An event that is sent again counts exactly once.
(function () {
  'use strict';
  var script = document.currentScript;
  var waitMillis = 1000 * Number((script && script.getAttribute('data-wait')) || 5);
  var server = new URL(script.src).origin;
  var robot = /bot|crawl|spider|slurp|preview|headless|lighthouse/i;

  if (navigator.doNotTrack === '1' || window.doNotTrack === '1' ||
      navigator.globalPrivacyControl || navigator.webdriver || robot.test(navigator.userAgent)) {
    return;
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

  function send(attemptsLeft) {
    function again() {
      if (attemptsLeft > 0) {
        setTimeout(function () { send(attemptsLeft - 1); }, 5000);
      }
    }
    fetch(server + '/v1/views', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: event,
      credentials: 'omit',
      keepalive: true
    }).then(function (response) { if (response.status >= 500) { again(); } }, again);
  }

  setTimeout(function () { send(3); }, waitMillis);
})();
