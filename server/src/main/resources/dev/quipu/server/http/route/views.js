// Counts a view of the page that embeds it: <script src="https://HOST/views.js" async></script>
// It waits (data-wait, in seconds, 5 by default), so that a page that is left at once is no view, and
// sends nothing for who asks not to be tracked, and for robots. To send an event again counts once.
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
    } catch (e) { // storage is switched off: every page view is another client
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
    }).then(function (answer) { if (answer.status >= 500) { again(); } }, again);
  }

  setTimeout(function () { send(3); }, waitMillis);
})();
