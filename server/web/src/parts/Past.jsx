import { useState } from 'preact/hooks';
import { path } from '../api.js';
import { Buckets } from './Chart.jsx';
import { Trouble } from './Trouble.jsx';
import { useData } from './useData.js';
import { added, grouped, local } from '../text.js';

const HOUR = 3600 * 1000;
const PERIODS = {
  'The last 60 minutes': { step: 'minute', millis: HOUR },
  'The last 24 hours': { step: 'hour', millis: 24 * HOUR },
  'The last 30 days': { step: 'day', millis: 30 * 24 * HOUR },
  'The last year': { step: 'day', millis: 365 * 24 * HOUR },
};
const REREAD_MILLIS = 5000;

/** How a counter changed, beside the same time before. */
export function Past({ name, round }) {
  const [wanted, setWanted] = useState('The last 24 hours');
  const { step, millis } = PERIODS[wanted];
  const [now] = useState(() => Date.now());
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone || 'UTC';
  const query = (from, to) =>
    `${path(name)}/history?${new URLSearchParams({
      step,
      tz: zone,
      from: new Date(from).toISOString(),
      ...(to && { to: new Date(to).toISOString() }),
    })}`;
  const found = useData(query(now - millis), REREAD_MILLIS, round);
  const earlier = useData(query(now - 2 * millis, now - millis));
  const buckets = found.data?.buckets || [];
  const known = buckets.filter((each) => each.change !== undefined);
  const began = known.find((each) => each.since)?.since;
  const isWhole = buckets[0]?.change !== undefined;
  const since = began ? `since ${local(began)}, when the recording began`
    : isWhole ? 'in this time' : `since ${known[0] && local(known[0].from)}; what was before is not known`;
  const before = earlier.data?.buckets || [];
  const sum = (all) => added(all.map((each) => each.change ?? '0'));
  const isOff = found.problem && [400, 501].includes(found.problem.status);
  return (
    <section class="card" aria-labelledby="past">
      <h2 id="past">Changes</h2>
      {isOff ? (
        <p class="note">{found.problem.message}</p>
      ) : (
        <>
          <Trouble problem={found.problem} />
          <form class="row" onSubmit={(event) => event.preventDefault()}>
            <label>
              Period
              <select value={wanted} onChange={(event) => setWanted(event.currentTarget.value)}>
                {Object.keys(PERIODS).map((each) => <option value={each}>{each}</option>)}
              </select>
            </label>
          </form>
          {known.length > 0 ? (
            <>
              <p>
                <strong>{signed(sum(known))}</strong> {since}
                {before.some((each) => each.change !== undefined)
                  && `, ${signed(sum(before))} in the same time before`}
              </p>
              <Buckets key={wanted} history={found.data} label={`Changes of each ${step}`} />
            </>
          ) : (
            found.data && <p class="note">Nothing is known of this time: the recording began later, or its first {step} has not ended.</p>
          )}
        </>
      )}
    </section>
  );
}

function signed(decimal) {
  return (/^-|^[0.]+$/.test(decimal) ? '' : '+') + grouped(decimal);
}
