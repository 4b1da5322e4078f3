import { useState } from 'preact/hooks';
import { Buckets } from '../parts/Chart.jsx';
import { Copy } from '../parts/Copy.jsx';
import { Listed } from '../parts/Listed.jsx';
import { Trouble } from '../parts/Trouble.jsx';
import { useData } from '../parts/useData.js';
import { href } from '../router.js';
import { grouped, local, shown } from '../text.js';

const LATEST_HOURS = 24;
const ROWS = 50;

/** Pages with their unique views, and who is online. */
export function Views({ query }) {
  return query.url ? <OnePage url={query.url} /> : <AllPages />;
}

function AllPages() {
  return (
    <>
      <h1>Views</h1>
      <div class="columns wide">
        <section class="card" aria-labelledby="pages">
          <h2 id="pages">Pages, with their unique views</h2>
          <Listed
            path="/v1/views/pages"
            list={['pages', 'url', 'value']}
            heads={['URL', 'Views']}
            empty="No page was viewed. A page sends its views with:"
            link={(url) => href('views', { url })}
            moves
          />
          <Copy label="Script of a page" text={`<script src="${location.origin}/views.js" defer></script>`} />
        </section>
        <Online />
      </div>
    </>
  );
}

function Online() {
  const [text, setText] = useState('');
  const [room, setRoom] = useState('');
  return (
    <section class="card" aria-labelledby="online">
      <h2 id="online">Online now</h2>
      <form
        class="row"
        onSubmit={(event) => {
          event.preventDefault();
          setRoom(text);
        }}
      >
        <label>
          Room
          <input required value={text} onInput={(event) => setText(event.currentTarget.value)} />
        </label>
        <button type="submit">Show</button>
      </form>
      {room && <Room key={room} room={room} />}
    </section>
  );
}

function Room({ room }) {
  const found = useData(`/v1/presence/${encodeURIComponent(room)}`, 2000);
  const data = found.data;
  return (
    <>
      <Trouble problem={found.problem} />
      {data && (
        <>
          <p class="figure" aria-live="polite">{grouped(data.value)}</p>
          <dl class="facts">
            <dt>Room</dt><dd><bdi>{shown(room)}</bdi></dd>
            <dt>Seen since</dt><dd>{local(data.from)}</dd>
            {data.low !== undefined && data.low !== data.high && (
              <><dt>Between</dt><dd>{grouped(data.low)} and {grouped(data.high)}</dd></>
            )}
            {!data.complete && <><dt>Note</dt><dd>The server does not know the whole window yet.</dd></>}
          </dl>
        </>
      )}
    </>
  );
}

function OnePage({ url }) {
  const [from] = useState(() => new Date(Date.now() - LATEST_HOURS * 3600 * 1000).toISOString());
  const all = useData(`/v1/views?${new URLSearchParams({ url })}`, 5000);
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone || 'UTC';
  const day = useData(`/v1/views/history?${new URLSearchParams({ url, from, step: 'hour', tz: zone })}`, 5000);
  const buckets = day.data?.buckets || [];
  const events = useData(`/v1/views/events?${new URLSearchParams({ url, from, limit: ROWS })}`);
  const rows = events.data?.events || [];
  return (
    <>
      <h1><bdi>{shown(url)}</bdi></h1>
      <p><a href={href('views')}>All pages</a></p>
      <section class="card" aria-labelledby="unique">
        <h2 id="unique">Unique views</h2>
        <Trouble problem={all.problem} />
        {!all.problem && <p class="figure" aria-live="polite">{grouped(all.data?.value ?? '…')}</p>}
        {buckets.length > 0 && (
          <>
            <p>
              {grouped(buckets.reduce((sum, each) => sum + Number(each.change || 0), 0))} in the last {LATEST_HOURS} hours
            </p>
            <Buckets history={day.data} label="Views of each hour" />
          </>
        )}
      </section>
      {rows.length > 0 && (
        <section class="card" aria-labelledby="events">
          <h2 id="events">{events.data.cursor ? `The first ${ROWS}` : 'Those'} in the last {LATEST_HOURS} hours</h2>
          <table>
            <thead><tr><th scope="col">Time</th><th scope="col">Client</th></tr></thead>
            <tbody>
              {rows.map((each) => (
                <tr key={`${each.time} ${each.identity}`}>
                  <td>{local(each.time)}</td>
                  <td><bdi>{shown(each.clientId ?? each.identity)}</bdi></td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      )}
    </>
  );
}
