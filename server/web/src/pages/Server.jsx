import { useEffect, useState } from 'preact/hooks';
import { headers, token } from '../api.js';
import { Trouble } from '../parts/Trouble.jsx';
import { useData } from '../parts/useData.js';

/** How the server counts, and whether it can. */
export function Server() {
  const technique = useData('/v1/technique');
  const ready = useText('/readyz?verbose', 5000);
  const data = technique.data;
  return (
    <>
      <h1>Server</h1>
      <section class="card" aria-labelledby="health">
        <h2 id="health">Health</h2>
        <p>
          <strong class={ready.isOk ? 'good' : 'bad'}>{ready.isOk ? 'ready' : 'not ready'}</strong>
        </p>
        <pre tabIndex={0}>{ready.text}</pre>
      </section>
      <section class="card" aria-labelledby="technique">
        <h2 id="technique">How it counts</h2>
        <Trouble problem={technique.problem} />
        {data && (
          <dl class="facts">
            <dt>Technique</dt><dd><code>{data.technique}</code></dd>
            <dt>Guarantees</dt>
            <dd><ul>{data.guarantees.map((each) => <li key={each}>{each}</li>)}</ul></dd>
            {data.floor !== undefined && <><dt>Floor of all counters</dt><dd>{data.floor}</dd></>}
            {data.ceiling !== undefined && <><dt>Ceiling of all counters</dt><dd>{data.ceiling}</dd></>}
          </dl>
        )}
        <p class="note">
          All routes: <a href="/openapi.json">openapi.json</a>. Figures for Prometheus: <code>/metrics</code>.
        </p>
      </section>
    </>
  );
}

function useText(path, everyMillis) {
  const [found, setFound] = useState({ isOk: true, text: '' });
  useEffect(() => {
    let isOver = false;
    async function read() {
      try {
        const response = await fetch(path, { headers: headers() });
        const text = await response.text();
        if (!isOver) {
          setFound({ isOk: response.ok, text });
        }
      } catch {
        if (!isOver) {
          setFound({ isOk: false, text: 'no response from the server' });
        }
      }
    }
    read();
    const timer = setInterval(read, everyMillis);
    return () => {
      isOver = true;
      clearInterval(timer);
    };
  }, [path, token.value]);
  return found;
}
