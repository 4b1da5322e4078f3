import { useRef, useState } from 'preact/hooks';
import { failed, newId, request } from '../api.js';
import { Listed } from '../parts/Listed.jsx';
import { ReadOnly } from '../parts/ReadOnly.jsx';
import { Trouble } from '../parts/Trouble.jsx';
import { useData } from '../parts/useData.js';
import { useServer } from '../parts/useServer.js';
import { href } from '../router.js';
import { grouped, local, shown } from '../text.js';

const ROWS = 20;

/** Records that are numbered without a gap, and revisions of entities. */
export function Series({ query }) {
  if (query.records) {
    return <Records series={query.records} />;
  }
  return query.revisions ? <Revisions series={query.revisions} /> : <AllSeries />;
}

function AllSeries() {
  return (
    <>
      <h1>Series</h1>
      <div class="columns wide">
        <section class="card" aria-labelledby="numbered">
          <h2 id="numbered">Numbers without a gap</h2>
          <Listed
            path="/v1/sequences"
            list={['sequences', 'name', 'last']}
            heads={['Series', 'Records']}
            empty="No number was taken."
            link={(records) => href('series', { records })}
          />
          <Begin />
        </section>
        <section class="card" aria-labelledby="revised">
          <h2 id="revised">Revisions of entities</h2>
          <Listed
            path="/v1/revisions"
            list={['revisions', 'name', 'count']}
            heads={['Series', 'Entities']}
            empty="No entity was inserted."
            link={(revisions) => href('series', { revisions })}
          />
        </section>
      </div>
    </>
  );
}

function Begin() {
  const [name, setName] = useState('');
  return (
    <form
      class="row"
      onSubmit={(event) => {
        event.preventDefault();
        location.hash = href('series', { records: name });
      }}
    >
      <label>
        Another series
        <input required placeholder="invoices/2027" value={name} onInput={(event) => setName(event.currentTarget.value)} />
      </label>
      <button type="submit">Open</button>
    </form>
  );
}

function Records({ series }) {
  const path = `/v1/sequences/${encodeURIComponent(series)}`;
  const head = useData(path, 5000);
  const last = Number(head.data?.last || 0);
  const limit = Math.min(last, ROWS); // another path for each number of records, so that it is read again
  const page = useData(last > 0 && `${path}?${new URLSearchParams({ from: last - limit + 1, limit })}`);
  const rows = (page.data?.records || []).toReversed();
  return (
    <>
      <h1><bdi>{shown(series)}</bdi></h1>
      <p><a href={href('series')}>All series</a></p>
      <section class="card" aria-labelledby="last">
        <h2 id="last">Highest number</h2>
        <Trouble problem={head.problem} />
        <p class="figure" aria-live="polite">{head.data ? grouped(head.data.last) : '…'}</p>
        <Next path={path} afterwards={head.again} />
      </section>
      {rows.length > 0 && (
        <section class="card" aria-labelledby="records">
          <h2 id="records">Latest records</h2>
          <table>
            <thead>
              <tr><th scope="col" class="number">Number</th><th scope="col">Record</th><th scope="col">Time</th></tr>
            </thead>
            <tbody>
              {rows.map((each) => (
                <tr key={each.number}>
                  <td class="number">{grouped(each.number)}</td>
                  <td>
                    <bdi>{shown(each.payload)}</bdi>
                    {each.voided !== undefined && <span class="bad"> void: <bdi>{shown(each.voided)}</bdi></span>}
                  </td>
                  <td>{local(each.at)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      )}
    </>
  );
}

/** Takes a number, once under an id. */
function Next({ path, afterwards }) {
  const [payload, setPayload] = useState('');
  const [result, setResult] = useState(null);
  const last = useRef(null);
  const how = useServer();
  async function take(record) {
    last.current = record;
    try {
      const done = await request(`${path}/next`, { method: 'POST', body: { payload: record.payload }, key: record.id });
      setResult({
        kind: 'applied',
        text: `number ${grouped(done.number)}${done.replayed ? ': the same as before' : ''}`,
      });
    } catch (problem) {
      setResult(failed(problem));
    }
    afterwards();
  }
  if (how?.readOnly) {
    return <ReadOnly />;
  }
  return (
    <>
      <form
        class="row"
        onSubmit={(event) => {
          event.preventDefault();
          take({ payload, id: newId() });
        }}
      >
        <label>
          Record
          <input value={payload} onInput={(event) => setPayload(event.currentTarget.value)} />
        </label>
        <button type="submit">Take the next number</button>
        <button type="button" disabled={!result} onClick={() => take(last.current)}>Repeat the last one</button>
      </form>
      <ul class="results" aria-live="polite">
        {result && <li class={result.kind}>{result.text}</li>}
      </ul>
    </>
  );
}

function Revisions({ series }) {
  const path = `/v1/revisions/${encodeURIComponent(series)}`;
  const head = useData(path, 5000);
  const newest = Number(head.data?.number || 0);
  const numbers = Array.from({ length: Math.min(newest, ROWS) }, (_, i) => newest - i);
  return (
    <>
      <h1><bdi>{shown(series)}</bdi></h1>
      <p><a href={href('series')}>All series</a></p>
      <section class="card" aria-labelledby="entities">
        <h2 id="entities">Entities</h2>
        <Trouble problem={head.problem} />
        <p class="figure" aria-live="polite">{head.data ? grouped(head.data.count) : '…'}</p>
      </section>
      {numbers.length > 0 && (
        <section class="card" aria-labelledby="revisions">
          <h2 id="revisions">Latest revisions</h2>
          <table>
            <thead>
              <tr>
                <th scope="col" class="number wrap">Number</th><th scope="col">Change</th><th scope="col">Entity</th>
                <th scope="col" class="number wrap">Entities after it</th><th scope="col">Time</th>
              </tr>
            </thead>
            <tbody>{numbers.map((each) => <Revision key={each} path={`${path}?number=${each}`} />)}</tbody>
          </table>
        </section>
      )}
    </>
  );
}

function Revision({ path }) {
  const { data } = useData(path);
  return data ? (
    <tr>
      <td class="number">{grouped(data.number)}</td>
      <td>{data.kind}</td>
      <td><bdi>{shown(data.entity)}</bdi></td>
      <td class="number">{grouped(data.count)}</td>
      <td>{local(data.at)}</td>
    </tr>
  ) : null;
}
