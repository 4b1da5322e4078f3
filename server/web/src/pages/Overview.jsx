import { useEffect, useRef, useState } from 'preact/hooks';
import { Chart } from '../parts/Chart.jsx';
import { Trouble } from '../parts/Trouble.jsx';
import { useData } from '../parts/useData.js';
import { href } from '../router.js';
import { follow } from '../stream.js';
import { difference, grouped, shown } from '../text.js';

const SECONDS = 120;
const MOVER_SECONDS = 10;
const MOVERS = 10;

function empty(time) {
  return { time, changed: 0, byName: new Map() };
}

/** How much the counters changed in each of the last seconds, and which changed most. */
class Movement {
  constructor() {
    this.last = new Map();
    const time = Math.floor(Date.now() / 1000) - SECONDS;
    this.seconds = Array.from({ length: SECONDS }, (_, i) => empty(time + i + 1));
  }

  receive(counters) {
    const second = this.now();
    for (const { name, value } of counters) {
      const before = this.last.get(name);
      if (value === undefined) {
        this.last.delete(name);
        continue;
      }
      this.last.set(name, value);
      if (before !== undefined) {
        const change = difference(value, before);
        second.byName.set(name, (second.byName.get(name) || 0) + change);
      }
      second.changed += 1;
    }
  }

  now() {
    const time = Math.floor(Date.now() / 1000);
    let last = this.seconds.at(-1);
    if (time - last.time > SECONDS) { // the machine slept
      last.time = time - SECONDS;
    }
    while (last.time < time) {
      last = empty(last.time + 1);
      this.seconds.push(last);
    }
    this.seconds.splice(0, this.seconds.length - SECONDS);
    for (const each of this.seconds.slice(0, -MOVER_SECONDS - 1)) {
      each.byName.clear();
    }
    return last;
  }

  summary() {
    this.now();
    const complete = this.seconds.slice(0, -1);
    const movers = new Map();
    for (const each of complete.slice(-MOVER_SECONDS)) {
      each.byName.forEach((change, name) => movers.set(name, (movers.get(name) || 0) + change));
    }
    return {
      times: complete.map((each) => each.time),
      changed: complete.map((each) => each.changed),
      movers: [...movers]
        .filter(([, change]) => change !== 0)
        .sort((a, b) => Math.abs(b[1]) - Math.abs(a[1]))
        .slice(0, MOVERS),
    };
  }
}

export function Overview() {
  const movement = useRef(null);
  movement.current ??= new Movement();
  const [summary, setSummary] = useState(movement.current.summary());
  useEffect(() => {
    const end = follow('', false, (type, data) => {
      if (type === 'counters') {
        movement.current.receive(data);
      }
    });
    const timer = setInterval(() => setSummary(movement.current.summary()), 1000);
    return () => {
      end();
      clearInterval(timer);
    };
  }, []);
  const top = useData('/v1/counters?sort=-value&limit=10', 5000);
  const spaces = useData('/v1/namespaces?limit=20', 5000);
  const latest = summary.changed.at(-1) || 0;
  return (
    <>
      <h1>Overview</h1>
      <section class="card" aria-labelledby="changes">
        <h2 id="changes">Counters that changed, per second</h2>
        <p class="figure">{grouped(latest)}</p>
        <Chart
          times={summary.times}
          values={summary.changed}
          label={`Counters that changed per second, for ${SECONDS} seconds`}
        />
      </section>
      <div class="columns">
        <section class="card" aria-labelledby="top">
          <h2 id="top">Greatest values</h2>
          <Trouble problem={top.problem} />
          <Names
            rows={(top.data?.counters || []).map((each) => [each.name, grouped(each.value)])}
            heads={['Counter', 'Value']}
            empty="There are no counters yet. Count something:"
          />
          {top.data?.counters.length === 0 && (
            <pre tabIndex={0}><code>curl -X POST -H 'Content-Type: application/json' -d '{'{"delta":1}'}' {location.origin}/v1/counters/likes/add</code></pre>
          )}
        </section>
        <section class="card" aria-labelledby="movers">
          <h2 id="movers">Changed most in {MOVER_SECONDS} s</h2>
          <Names
            rows={summary.movers.map(([name, change]) => [
              name, (change > 0 ? '+' : '') + grouped(Math.round(change * 1e6) / 1e6),
            ])}
            heads={['Counter', 'Change']}
            empty="Nothing changes now."
          />
        </section>
        <section class="card" aria-labelledby="spaces">
          <h2 id="spaces">Namespaces</h2>
          <Trouble problem={spaces.problem} />
          <Spaces rows={spaces.data?.namespaces || []} />
        </section>
      </div>
    </>
  );
}

function Names({ rows, heads, empty }) {
  if (rows.length === 0) {
    return <p class="note">{empty}</p>;
  }
  return (
    <table>
      <thead><tr><th scope="col">{heads[0]}</th><th scope="col" class="number">{heads[1]}</th></tr></thead>
      <tbody>
        {rows.map(([name, text]) => (
          <tr key={name}>
            <td><a href={href('counter', { name })}><bdi>{shown(name)}</bdi></a></td>
            <td class="number">{text}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

export function Spaces({ rows }) {
  if (rows.length === 0) {
    return <p class="note">None.</p>;
  }
  return (
    <table>
      <thead>
        <tr>
          <th scope="col">Name</th>
          <th scope="col" class="number">Counters</th>
          <th scope="col" class="number">Sum</th>
        </tr>
      </thead>
      <tbody>
        {rows.map(({ name, counters, sum }) => (
          <tr key={name}>
            <td>
              <a href={name.endsWith('/') ? href('counters', { prefix: name }) : href('counter', { name })}>
                <bdi>{shown(name)}</bdi>
              </a>
            </td>
            <td class="number">{grouped(counters)}</td>
            <td class="number">{grouped(sum)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
