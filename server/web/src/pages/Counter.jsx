import { useEffect, useRef, useState } from 'preact/hooks';
import { failed, newId, path, request } from '../api.js';
import { Chart } from '../parts/Chart.jsx';
import { Copy } from '../parts/Copy.jsx';
import { Gauge } from '../parts/Gauge.jsx';
import { Parts } from '../parts/Parts.jsx';
import { Past } from '../parts/Past.jsx';
import { Recent } from '../parts/Recent.jsx';
import { ReadOnly } from '../parts/ReadOnly.jsx';
import { Thresholds } from '../parts/Thresholds.jsx';
import { Trouble } from '../parts/Trouble.jsx';
import { useData } from '../parts/useData.js';
import { isPastKept, server, useServer } from '../parts/useServer.js';
import { href } from '../router.js';
import { follow, state } from '../stream.js';
import { attribute, grouped, javaString, local, quoted, shown } from '../text.js';

const POINTS_MAX = 3000;
const SECONDS_MIN = 60; // that the chart shows

export function Counter({ query }) {
  return /^[.]{1,2}$/.test(query.name) ? <Unreachable name={query.name} /> : <Reachable name={query.name || ''} />;
}

/** Browsers take the path of these names for that of a directory. */
function Unreachable({ name }) {
  return (
    <>
      <h1>{name}</h1>
      <p class="trouble">A browser cannot request the counter {name}: it takes this path for another one. Use a command: <code>quipu get {name}</code></p>
    </>
  );
}

function Reachable({ name }) {
  const how = useServer();
  const live = useLive(name);
  const [round, setRound] = useState(0); // of what this page has counted
  const read = useData(path(name), state.value === 'unsupported' ? 2000 : 30000, round);
  const value = live.value === undefined ? read.data?.value : live.value;
  const isMissing = value === null || (value === undefined && read.problem?.status === 404);
  const prefix = name.slice(0, name.lastIndexOf('/') + 1);
  return (
    <>
      <h1><bdi>{shown(name)}</bdi></h1>
      {prefix && (
        <p>in <a href={href('counters', { prefix })}><bdi>{shown(prefix)}</bdi></a></p>
      )}
      <section class="card" aria-labelledby="value">
        <h2 id="value">Value</h2>
        {!isMissing && <Trouble problem={read.problem} />}
        <p class="figure" aria-live="polite">{isMissing ? 'never counted' : grouped(value ?? '…')}</p>
        <Gauge value={value} />
        <Balance data={read.data} />
        {live.times.length > 0 && <LiveChart name={name} live={live} />}
      </section>
      {how && (isPastKept(name) ? <Past name={name} round={round} /> : how.technique === 'engine' && <NoPast name={name} />)}
      <div class="columns wide">
        <Count name={name} afterwards={() => setRound((before) => before + 1)} />
        <Outcome name={name} />
      </div>
      <Recent name={name} round={round} />
      <Open name={name} />
      <Parts name={name} />
      <Thresholds name={name} />
      <Embed name={name} />
    </>
  );
}

/** Which option keeps the past. */
function NoPast({ name }) {
  const prefix = name.slice(0, name.lastIndexOf('/') + 1);
  const others = server.value?.history || [];
  const rule = `${prefix || name}${prefix ? '*' : ''}=minute:2d,hour:90d,day:5y`;
  return (
    <section class="card" aria-labelledby="past">
      <h2 id="past">Changes</h2>
      <p class="note">
        No past of this counter is kept. The engine keeps it{' '}
        {others.length > 0
          ? <>if this rule is added to those of <code>serve --history</code>. Keep the others ({others.join(', ')}): without them the server does not start.</>
          : 'with this option.'}
      </p>
      {!/[;=*]/.test(prefix || name) && (
        <pre tabIndex={0}><code>{others.length > 0 ? rule : `quipu serve --history ${quoted(rule)}`}</code></pre>
      )}
    </section>
  );
}

/** The badge, and what shows the counter on another page. */
function Embed({ name }) {
  const badge = `${location.origin}/badge/${encodeURIComponent(name)}.svg`;
  return (
    <section class="card" aria-labelledby="embed">
      <h2 id="embed">On another page</h2>
      <details>
        <summary>A badge, or the number</summary>
        <Copy label="Badge" text={`<img src="${badge}" alt="${attribute(name)}">`} />
        <Copy label="Number" text={`<script src="${location.origin}/badge.js" data-counter="${attribute(name)}" async></script>`} />
        <p class="note">Visitors need an address of the server that they can reach, which requires a token and{' '}
          <code>--show</code> with a prefix of the counters that anyone may see.</p>
      </details>
    </section>
  );
}

function Balance({ data }) {
  if (!data?.held) {
    return null;
  }
  return (
    <dl class="facts">
      <dt>Held by open holds</dt>
      <dd>{grouped(data.held)}</dd>
      {data.available?.floor !== undefined && (
        <><dt>May be taken</dt><dd>{grouped(data.available.floor)}</dd></>
      )}
      {data.available?.ceiling !== undefined && (
        <><dt>May be added</dt><dd>{grouped(data.available.ceiling)}</dd></>
      )}
    </dl>
  );
}

/** Buttons that count, and the same as commands and code. */
function Count({ name, afterwards }) {
  const how = useServer();
  const takesFloor = !how || (how.floor === undefined && how.ceiling === undefined); // or the server has bounds
  const [delta, setDelta] = useState('1');
  const [floor, setFloor] = useState('');
  const [results, setResults] = useState([]);
  const last = useRef(null);
  async function send(add) {
    last.current = add;
    const body = { delta: add.delta, ...(add.floor && { floor: add.floor }) };
    let text;
    let kind = 'applied';
    try {
      const done = await request(`${path(name)}/add`, { method: 'POST', body, key: add.id });
      text = done.replayed
        ? `already counted: ${done.value === undefined ? 'applied' : `it was ${grouped(done.value)}`} then`
        : `now ${grouped(done.value ?? '')}`;
    } catch (problem) {
      ({ kind, text } = failed(problem));
    }
    setResults((before) => [{ ...add, kind, text }, ...before].slice(0, 5));
    afterwards();
  }
  const isAmount = /^[+-]?\d+(\.\d+)?$/.test(delta) && !/^[+-]?[0.]+$/.test(delta);
  return (
    <section class="card" aria-labelledby="count">
      <h2 id="count">Count</h2>
      {how?.readOnly ? <ReadOnly /> : (
        <form
          class="row"
          onSubmit={(event) => {
            event.preventDefault();
            send({ delta, floor, id: newId() });
          }}
        >
          <label>
            Amount
            <input inputmode="decimal" required value={delta} onInput={(event) => setDelta(event.currentTarget.value)} />
          </label>
          {takesFloor && (
            <label>
              Not below
              <input inputmode="decimal" placeholder="no floor" value={floor} onInput={(event) => setFloor(event.currentTarget.value)} />
            </label>
          )}
          <button type="submit" disabled={!isAmount}>Add</button>
          <button type="button" onClick={() => send({ delta: '1', floor: '', id: newId() })}>+1</button>
          <button type="button" onClick={() => send({ delta: '-1', floor: takesFloor ? '0' : '', id: newId() })}>
            {takesFloor ? '−1, not below 0' : '−1'}
          </button>
          <button type="button" disabled={!results.length} onClick={() => send(last.current)}>Repeat the last one</button>
        </form>
      )}
      <ul class="results" aria-live="polite">
        {results.map((each, i) => (
          <li key={`${each.id} ${results.length - i}`} class={each.kind}>
            {each.delta} under <code>{each.id.slice(0, 8)}…</code>: {each.text}
          </li>
        ))}
      </ul>
      <Equivalents name={name} delta={delta} floor={floor} />
    </section>
  );
}

function Equivalents({ name, delta, floor }) {
  const id = 'order-981';
  const body = JSON.stringify({ delta, ...(floor && { floor }) });
  const bounds = floor ? ` FLOOR ${floor}` : '';
  const url = `${location.origin}${path(name)}/add`;
  const curl = `curl -X POST -H 'Content-Type: application/json' \\\n  -H 'Idempotency-Key: "${id}"' -d ${quoted(body)} \\\n  ${quoted(url)}`;
  const redis = `redis-cli QUIPU.ADD ${quoted(name)} ${delta} ID ${id}${bounds}`;
  const java = `Counter counter = quipu.counter(${javaString(name)});\ncounter${floor ? `.withBounds(Bounds.atLeast(${floor}))` : ''}.add(${delta}, RequestId.of("${id}"));`;
  return (
    <details>
      <summary>The same as a command</summary>
      <Copy label="curl" text={curl} />
      <Copy label="redis-cli, with serve --resp 6379" text={redis} />
      <Copy label="Java" text={java} />
      <p class="note">Each add has an id of its own, such as that of an order: again under the same id, it does not count again.</p>
    </details>
  );
}

/** What happened to a request. */
function Outcome({ name }) {
  const [id, setId] = useState('');
  const [found, setFound] = useState(null);
  async function look(event) {
    event.preventDefault();
    try {
      setFound(await request(`/v1/requests/${encodeURIComponent(id.trim())}?counter=${encodeURIComponent(name)}`));
    } catch (problem) {
      setFound({ outcome: problem.message });
    }
  }
  return (
    <section class="card" aria-labelledby="outcome">
      <h2 id="outcome">Was it counted?</h2>
      <form class="row" onSubmit={look}>
        <label>
          Request id
          <input required value={id} onInput={(event) => setId(event.currentTarget.value)} />
        </label>
        <button type="submit" disabled={!id.trim()}>Look up</button>
      </form>
      <p aria-live="polite">
        {found && <><strong>{found.outcome}</strong>{found.added !== undefined && ` ${found.added}`}{found.outcome === 'not-seen' && ': no add under this id counted, or it is no longer remembered'}</>}
      </p>
    </section>
  );
}

/** The open holds. */
function Open({ name }) {
  const how = useServer();
  const holds = useData(how?.holds && `${path(name)}/holds?limit=20`);
  const rows = holds.data?.holds || [];
  if (rows.length === 0) {
    return null;
  }
  return (
    <section class="card" aria-labelledby="holds">
      <h2 id="holds">Open holds</h2>
      <table>
        <thead>
          <tr><th scope="col">Id</th><th scope="col" class="number">Amount</th><th scope="col">Expires</th></tr>
        </thead>
        <tbody>
          {rows.map((hold) => (
            <tr key={hold.id}>
              <td><code>{hold.id}</code></td>
              <td class="number">{hold.counters.find((each) => each.counter === name)?.delta}</td>
              <td>{local(hold.expires)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

/** Apart from the rest of the page, since it is drawn each second. */
function LiveChart({ name, live }) {
  const [now, setNow] = useState(Date.now() / 1000);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now() / 1000), 1000);
    return () => clearInterval(timer);
  }, []);
  return (
    <Chart
      times={[...live.times, now]}
      values={[...live.values, live.values.at(-1)]}
      label={`Value of ${shown(name)} since this page was opened`}
      secondsMin={SECONDS_MIN}
    />
  );
}

/** The value as it changes, and its course since the page was opened. */
function useLive(name) {
  const [live, setLive] = useState({ value: undefined, times: [], values: [] });
  useEffect(() => {
    const end = follow(name, true, (type, data) => {
      const found = type === 'counters' ? data.find((each) => each.name === name) : undefined;
      if (found) {
        setLive((before) => ({
          value: found.value ?? null,
          times: [...before.times, Date.now() / 1000].slice(-POINTS_MAX),
          values: [...before.values, Number(found.value ?? 0)].slice(-POINTS_MAX),
        }));
      }
    });
    return end;
  }, [name]);
  return live;
}
