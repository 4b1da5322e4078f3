import { useEffect, useState } from 'preact/hooks';
import { Pager } from '../parts/Pager.jsx';
import { Trouble } from '../parts/Trouble.jsx';
import { useData } from '../parts/useData.js';
import { Wide } from '../parts/Wide.jsx';
import { href } from '../router.js';
import { follow } from '../stream.js';
import { grouped, local, shown } from '../text.js';
import { Spaces } from './Overview.jsx';

const SORTS = [
  ['name', 'Name'], ['-value', 'Greatest value'], ['value', 'Least value'], ['-change', 'Change this hour, greatest first'],
  ['change', 'Change this hour, least first'], ['-rate', 'Rate now, greatest first'],
];

/** Search, and the tree of namespaces. */
export function Counters({ query }) {
  const prefix = query.prefix || '';
  const text = query.q || '';
  const sort = query.sort || 'name';
  const [wanted, setWanted] = useState(text);
  const [pages, setPages] = useState([]); // cursors of the pages before
  const cursor = pages.at(-1) || '';
  const parameters = new URLSearchParams({ prefix, q: text, sort, limit: 50, ...(cursor && { cursor }) });
  const isByChange = /change|rate/.test(sort);
  const found = useData(`/v1/counters?${parameters}`, isByChange ? 5000 : undefined);
  const spaces = useData(`/v1/namespaces?${new URLSearchParams({ prefix, limit: 100 })}`);
  const changed = useChanges(prefix);
  useEffect(() => setPages([]), [prefix, text, sort]);
  const rows = found.problem ? [] : found.data?.counters || [];
  return (
    <>
      <h1>Counters</h1>
      <Trail prefix={prefix} />
      <form
        class="row"
        role="search"
        onSubmit={(event) => {
          event.preventDefault();
          location.hash = href('counters', { prefix, q: wanted, sort });
        }}
      >
        <label>
          Name contains
          <input type="search" value={wanted} onInput={(event) => setWanted(event.currentTarget.value)} />
        </label>
        <label>
          Order
          <select
            value={sort}
            onChange={(event) => {
              location.hash = href('counters', { prefix, q: text, sort: event.currentTarget.value });
            }}
          >
            {SORTS.map(([value, label]) => <option value={value}>{label}</option>)}
          </select>
        </label>
        <button type="submit">Search</button>
      </form>
      <div class="columns wide">
        <section class="card" aria-labelledby="found">
          <h2 id="found">{text ? `Names with “${shown(text)}”` : `By ${SORTS.find(([each]) => each === sort)?.[1].toLowerCase()}`}</h2>
          <Trouble problem={found.problem} />
          {found.data && rows.length === 0 && <p class="note">No counters.</p>}
          {isByChange && found.data?.since && (
            <p class="note">Since {local(found.data.since)}, of counters whose past is kept (<code>serve --history</code>).</p>
          )}
          {rows.length > 0 && (
            <Wide label="Counters found">
              <table>
                <thead>
                  <tr>
                    <th scope="col">Counter</th>
                    {isByChange && <th scope="col" class="number">{sort === '-rate' ? 'Per second' : 'Change'}</th>}
                    <th scope="col" class="number">Value</th>
                  </tr>
                </thead>
                <tbody>
                  {rows.map(({ name, value, change, rate }) => {
                    const now = isByChange ? undefined : changed.get(name); // both of one moment
                    return (
                      <tr key={name}>
                        <td class="long"><a href={href('counter', { name })}><bdi>{shown(name)}</bdi></a></td>
                        {isByChange && <td class="number">{grouped((sort === '-rate' ? rate : change) ?? '')}</td>}
                        <td class={now === undefined ? 'number' : 'number changed'}>
                          {(now === undefined ? value : now) == null ? 'removed' : grouped(now ?? value)}
                        </td>
                      </tr>
                    );
                  })}
                </tbody>
              </table>
            </Wide>
          )}
          <Pager before={pages} next={found.data?.cursor} go={setPages} />
        </section>
        <section class="card" aria-labelledby="below">
          <h2 id="below">Namespaces here</h2>
          <Trouble problem={spaces.problem} />
          <Spaces rows={(spaces.data?.namespaces || []).filter((each) => each.name.endsWith('/'))} />
        </section>
      </div>
    </>
  );
}

/** The namespaces above, as links. */
function Trail({ prefix }) {
  const parts = prefix.split('/').slice(0, -1);
  return (
    <nav class="trail" aria-label="Namespaces above">
      <a href={href('counters')}>all</a>
      {parts.map((part, i) => (
        <>
          <span aria-hidden="true"> / </span>
          <a href={href('counters', { prefix: `${parts.slice(0, i + 1).join('/')}/` })}>
            <bdi>{shown(part)}</bdi>
          </a>
        </>
      ))}
    </nav>
  );
}

/** The values of counters that changed since the page was opened; null for one that was removed. */
function useChanges(prefix) {
  const [changed, setChanged] = useState(new Map());
  useEffect(() => {
    const all = new Map();
    let isNew = false;
    setChanged(all);
    const end = follow(prefix, false, (type, data) => {
      if (type === 'counters') {
        for (const { name, value } of data) {
          all.set(name, value ?? null);
        }
        isNew = true;
      }
    });
    const timer = setInterval(() => {
      if (isNew) {
        isNew = false;
        setChanged(new Map(all));
      }
    }, 250);
    return () => {
      end();
      clearInterval(timer);
    };
  }, [prefix]);
  return changed;
}
