import { useEffect, useRef, useState } from 'preact/hooks';
import { Chart } from '../parts/Chart.jsx';
import { Trouble } from '../parts/Trouble.jsx';
import { useData } from '../parts/useData.js';
import { Wide } from '../parts/Wide.jsx';
import { sum, useFigures } from '../parts/useFigures.js';
import { href } from '../router.js';
import { follow, state } from '../stream.js';
import { grouped, local, shown } from '../text.js';

const SECONDS = 120;
const MOVER_SECONDS = 10;
const MOVERS = 10;
const NAMES_MIN = 1024;
const NAMES_MAX = 200_000;

/**
 * How many counters changed in each of the last seconds, and which changed most. In arrays by the number of a name, and
 * not in objects: many counters may change.
 */
class Movement {
  constructor() {
    const time = Math.floor(Date.now() / 1000);
    this.times = Array.from({ length: SECONDS }, (_, i) => time - SECONDS + i);
    this.changed = new Array(SECONDS).fill(null); // nothing is known of the time before
    this.time = time;
    this.forget();
  }

  forget() {
    this.numbers = new Map();
    this.names = [];
    this.values = new Float64Array(NAMES_MIN);
    // One for each second, of which the last is the present one.
    this.moves = Array.from({ length: MOVER_SECONDS + 1 }, () => new Float64Array(NAMES_MIN));
    this.now = 0;
  }

  numberOf(name) {
    let number = this.numbers.get(name);
    if (number === undefined) {
      if (this.names.length === NAMES_MAX) {
        this.forget();
      }
      number = this.names.push(name) - 1;
      this.numbers.set(name, number);
      if (number === this.values.length) {
        this.values = twice(this.values);
        this.moves = this.moves.map(twice);
      }
      this.values[number] = NaN;
    }
    return number;
  }

  receive(counters) {
    this.advance();
    for (const { name, value } of counters) {
      const number = this.numberOf(name);
      const after = value === undefined ? NaN : Number(value);
      const change = after - this.values[number];
      this.values[number] = after;
      if (change) { // neither 0 nor unknown
        this.moves.at(-1)[number] += change;
      }
    }
    this.now += counters.length;
  }

  advance() {
    const time = Math.floor(Date.now() / 1000);
    if (time - this.time > SECONDS) { // the machine slept
      this.time = time - SECONDS;
    }
    while (this.time < time) {
      this.times.push(this.time);
      this.changed.push(state.value === 'live' ? this.now : null);
      this.times.shift();
      this.changed.shift();
      this.moves.push(this.moves.shift().fill(0));
      this.now = 0;
      this.time += 1;
    }
  }

  summary() {
    this.advance();
    const sums = new Float64Array(this.names.length);
    for (const each of this.moves.slice(0, -1)) {
      for (let i = 0; i < sums.length; i++) {
        sums[i] += each[i];
      }
    }
    return { times: [...this.times], changed: [...this.changed], movers: greatest(sums).map((i) => [this.names[i], sums[i]]) };
  }
}

function twice(array) {
  const longer = new Float64Array(2 * array.length);
  longer.set(array);
  return longer;
}

/** The numbers of the greatest changes, up or down, the greatest first. */
function greatest(sums) {
  const found = [];
  for (let i = 0; i < sums.length; i++) {
    const size = Math.abs(sums[i]);
    if (size > 0 && (found.length < MOVERS || size > Math.abs(sums[found.at(-1)]))) {
      const place = found.findIndex((each) => size > Math.abs(sums[each]));
      found.splice(place < 0 ? found.length : place, 0, i);
      found.length = Math.min(found.length, MOVERS);
    }
  }
  return found;
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
  const spaces = useData('/v1/namespaces?sort=-sum&limit=100', 5000);
  const latest = summary.changed.at(-1);
  return (
    <>
      <h1>Overview</h1>
      <Adds />
      <section class="card" aria-labelledby="changes">
        <h2 id="changes">Counters that changed, per second</h2>
        <p class="figure">{latest === null ? '…' : grouped(latest)}</p>
        <Chart
          times={summary.times}
          values={summary.changed}
          label={`Counters that changed per second, for ${SECONDS} seconds`}
          fromZero
        />
      </section>
      <div class="columns">
        <section class="card" aria-labelledby="top">
          <h2 id="top">Greatest values</h2>
          <Trouble problem={top.problem} />
          {top.data && (
            <Names
              rows={top.data.counters.map((each) => [each.name, grouped(each.value)])}
              heads={['Counter', 'Value']}
              label="Greatest values"
              empty="There are no counters yet. Count something:"
            />
          )}
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
            label="Changed most"
            empty={latest === null ? 'Not known yet.' : 'Nothing changes now.'}
          />
        </section>
        <section class="card" aria-labelledby="spaces">
          <h2 id="spaces">Namespaces</h2>
          <Trouble problem={spaces.problem} />
          {spaces.data && (
            <Spaces rows={spaces.data.namespaces.filter((each) => each.name.endsWith('/')).slice(0, 20)} />
          )}
        </section>
      </div>
    </>
  );
}

/** How many adds there are, and what became of those since the server started. */
function Adds() {
  const figures = useFigures();
  const before = useRef(figures);
  const [perSecond, setPerSecond] = useState(undefined);
  const start = new Date(1000 * (sum(figures, 'process_start_time_seconds') ?? 0));
  const isOfToday = start.toISOString().slice(0, 10) === new Date(figures.millis).toISOString().slice(0, 10);
  const of = (pattern) => (figures.millis ? sum(figures, 'quipu_adds_total', 'outcome', pattern) ?? 0 : undefined);
  const text = (number) => (number === undefined ? '…' : grouped(number));
  useEffect(() => {
    const passed = figures.millis - before.current.millis;
    const applied = sum(before.current, 'quipu_adds_total', 'outcome', /^applied$/);
    if (passed > 0 && applied !== undefined) {
      setPerSecond(Math.max(0, Math.round((1000 * (of(/^applied$/) - applied)) / passed)));
    }
    before.current = figures;
  }, [figures]);
  return (
    <section class="card" aria-labelledby="adds">
      <h2 id="adds">Adds</h2>
      <dl class="figures">
        <div><dt>Per second, now</dt><dd>{text(perSecond)}</dd></div>
        {!isOfToday && <div><dt>Today (UTC)</dt><dd>{text(sum(figures, 'quipu_today_adds'))}</dd></div>}
        <div><dt>Since the start{figures.millis > 0 && `, ${local(start)}`}</dt><dd>{text(of(/^applied$/))}</dd></div>
        <div><dt>Repeats, not counted again</dt><dd>{text(of(/^replayed$/))}</dd></div>
        <div><dt>Rejected</dt><dd>{text(of(/^(rejected_|conflict)/))}</dd></div>
        <div><dt>Unknown to the client</dt><dd>{text(of(/^unknown$/))}</dd></div>
      </dl>
    </section>
  );
}

function Names({ rows, heads, empty, label }) {
  if (rows.length === 0) {
    return <p class="note">{empty}</p>;
  }
  return (
    <Wide label={label}>
      <table>
        <thead><tr><th scope="col">{heads[0]}</th><th scope="col" class="number">{heads[1]}</th></tr></thead>
        <tbody>
          {rows.map(([name, text]) => (
            <tr key={name}>
              <td class="long"><a href={href('counter', { name })}><bdi>{shown(name)}</bdi></a></td>
              <td class="number">{text}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Wide>
  );
}

export function Spaces({ rows }) {
  if (rows.length === 0) {
    return <p class="note">None.</p>;
  }
  return (
    <Wide label="Namespaces">
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
              <td class="long">
                <a href={href('counters', { prefix: name })}>
                  <bdi>{shown(name)}</bdi>
                </a>
              </td>
              <td class="number">{grouped(counters)}</td>
              <td class="number">{grouped(sum)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Wide>
  );
}
