// Shows a counter where it is embedded:
//   <script src="https://HOST/badge.js" data-counter="views/home" async></script>
//   data-every   seconds between two readings, 30 by default, at least 1; 0 reads once
(function () {
  'use strict';
  var script = document.currentScript;
  var name = script.getAttribute('data-counter');
  var every = Number(script.getAttribute('data-every') || 30);
  var server = new URL(script.src).origin;
  var place = document.createElement('span');

  function read() {
    fetch(server + '/badge/' + encodeURIComponent(name) + '.json', { credentials: 'omit' })
      .then(function (response) {
        return response.json();
      })
      .then(function (found) {
        if (found.value === undefined) {
          console.warn('quipu: ' + found.detail);
        } else {
          place.textContent = found.value;
        }
      })
      .catch(function () {}); // the last value stays
  }

  if (!name) {
    console.error('quipu: data-counter is missing');
    return;
  }
  place.className = 'quipu-counter';
  script.parentNode.insertBefore(place, script);
  read();
  if (every > 0) {
    setInterval(read, Math.max(1, every) * 1000);
  }
})();
