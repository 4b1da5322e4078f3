import { useEffect, useState } from 'preact/hooks';
import { headers, token } from '../api.js';
import { Events } from '../parts/Events.jsx';
import { Techniques } from '../parts/Techniques.jsx';
import { Thresholds } from '../parts/Thresholds.jsx';
import { Trouble } from '../parts/Trouble.jsx';
import { useData } from '../parts/useData.js';
import { sum, useFigures } from '../parts/useFigures.js';
import { grouped, local, shown } from '../text.js';

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
      <Events />
      <Figures />
      <Thresholds />
      <Regions isRegional={data?.regional} />
      <section class="card" aria-labelledby="technique">
        <h2 id="technique">How it counts</h2>
        <Trouble problem={technique.problem} />
        {data && (
          <dl class="facts">
            <dt>Technique</dt><dd><code>{data.technique}</code></dd>
            {data.floor !== undefined && <><dt>Floor of all counters</dt><dd>{data.floor}</dd></>}
            {data.ceiling !== undefined && <><dt>Ceiling of all counters</dt><dd>{data.ceiling}</dd></>}
          </dl>
        )}
        <p class="note">
          All routes: <a href="/openapi.json">openapi.json</a>. Figures for Prometheus: <code>/metrics</code>.
        </p>
      </section>
      <Techniques />
    </>
  );
}

/** The regions, if the server counts in one of several. */
function Regions({ isRegional }) {
  const { data } = useData(isRegional && '/v1/regions', 5000);
  return data && (
    <section class="card" aria-labelledby="regions">
      <h2 id="regions">Regions, as seen by this one</h2>
      <table>
        <thead><tr><th scope="col">Region</th><th scope="col">State</th><th scope="col">Lease until</th></tr></thead>
        <tbody>
          {data.regions.map((each) => (
            <tr key={each.name}>
              <td>{shown(each.name)}</td>
              <td class={each.responds ? 'good' : 'bad'}>{regionState(each)}</td>
              <td>{each.leaseUntil ? local(each.leaseUntil) : 'none'}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function regionState(region) {
  if (region.successor) {
    return `retired; ${region.successor} has its rights`;
  }
  return region.ended ?? (region.responds ? 'responds' : 'does not respond');
}

const MEGABYTE = 1e6;
const FIGURES = [
  ['Counters', 'quipu_engine_counters'],
  ['Remembered request ids', 'quipu_engine_ids'],
  ['Open holds', 'quipu_engine_holds'],
  ['Log that a start reads, MB', 'quipu_engine_log_replay_bytes', MEGABYTE],
  ['Free on the disk, MB', 'quipu_engine_disk_free_bytes', MEGABYTE],
  ['Backup behind, s', 'quipu_backup_lag_seconds'],
  ['Crossings that wait for a webhook', 'quipu_webhook_waiting_crossings'],
  ['Connections to the store in use', 'quipu_store_connections', 1, 'state', /^in_use$/],
  ['Calls that wait for the store', 'quipu_store_waiting'],
];

/** What the server has and uses. */
function Figures() {
  const figures = useFigures();
  const ports = figures.rows.filter((each) => each.name === 'quipu_port_connections');
  const budgets = figures.rows.filter((each) => each.name === 'quipu_memory_used_bytes');
  return (
    <section class="card" aria-labelledby="figures">
      <h2 id="figures">Figures</h2>
      <dl class="facts">
        {FIGURES.map(([title, name, unit = 1, label, pattern]) => {
          const value = sum(figures, name, label, pattern);
          return value === undefined ? null : <><dt>{title}</dt><dd>{rounded(value / unit)}</dd></>;
        })}
        {budgets.map(({ labels, value }) => (
          <>
            <dt>Memory of {labels.budget}, MB</dt>
            <dd>
              {rounded(value / MEGABYTE)} of{' '}
              {rounded((sum(figures, 'quipu_memory_max_bytes', 'budget', new RegExp(`^${labels.budget}$`)) ?? 0) / MEGABYTE)}
            </dd>
          </>
        ))}
        {ports.map(({ labels, value }) => <><dt>Connections, {labels.port}</dt><dd>{grouped(value)}</dd></>)}
      </dl>
    </section>
  );
}

/** A number with digits after the point only if it is small. */
function rounded(value) {
  return grouped(value < 10 ? Math.round(value * 100) / 100 : Math.round(value));
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
