import { useEffect, useState } from 'preact/hooks';
import { headers, token } from '../api.js';

const EVERY_MILLIS = 5000;
const LINE = /^(\w+)(?:\{(.*)\})? (\S+)$/;
const LABEL = /(\w+)="((?:[^"\\]|\\.)*)"/g;

/** The figures of /metrics, read again every few seconds: time, and what was found. */
export function useFigures() {
  const [figures, setFigures] = useState({ millis: 0, rows: [] });
  useEffect(() => {
    const abort = new AbortController();
    async function read() {
      try {
        const response = await fetch('/metrics', { headers: headers(), signal: abort.signal });
        if (response.ok) {
          setFigures({ millis: Date.now(), rows: parsed(await response.text()) });
        }
      } catch {
        // the rest of the page shows that the server does not respond
      }
    }
    read();
    const timer = setInterval(read, EVERY_MILLIS);
    return () => {
      clearInterval(timer);
      abort.abort();
    };
  }, [token.value]);
  return figures;
}

function parsed(text) {
  return text
    .split('\n')
    .map((line) => (/^(quipu_|process_start_time)/.test(line) ? LINE.exec(line) : null))
    .filter(Boolean)
    .map(([, name, labels, value]) => ({
      name,
      labels: Object.fromEntries(Array.from((labels || '').matchAll(LABEL), ([, key, each]) => [key, each])),
      value: Number(value),
    }));
}

/** The sum of a figure over the rows whose label matches; undefined if there is no such figure. */
export function sum({ rows }, name, label, pattern) {
  const found = rows.filter((each) => each.name === name && (!label || pattern.test(each.labels[label])));
  return found.length ? found.reduce((total, each) => total + each.value, 0) : undefined;
}
