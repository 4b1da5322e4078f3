import { path } from '../api.js';
import { useData } from './useData.js';
import { useServer } from './useServer.js';
import { Wide } from './Wide.jsx';
import { grouped, local } from '../text.js';

const WHY = {
  floor: 'below the floor',
  ceiling: 'above the ceiling',
  overflow: 'beyond 64 bits',
  canceled: 'the request was canceled',
};

/** The last requests with ids, if the server keeps them. */
export function Recent({ name, round }) {
  const how = useServer();
  const { data } = useData(how?.technique === 'engine' && `${path(name)}/requests?limit=20`, 5000, round);
  const rows = data?.requests || [];
  if (rows.length === 0) {
    return null;
  }
  return (
    <section class="card" aria-labelledby="recent">
      <h2 id="recent">Recent requests</h2>
      <p class="note">Single adds with ids, of the last 4,096 to all counters. A conflict is an id that was used for another amount.</p>
      <Wide label="Recent requests">
        <table>
          <thead>
            <tr>
              <th scope="col">Id</th><th scope="col" class="number">Amount</th>
              <th scope="col">Outcome</th><th scope="col" class="number">Value</th><th scope="col">Time</th>
            </tr>
          </thead>
          <tbody>
            {rows.map((each, i) => (
              <tr key={`${each.id} ${each.time} ${i}`}>
                <td class="long"><code>{each.id}</code></td>
                <td class="number">{grouped(each.delta)}</td>
                <td class={each.outcome === 'rejected' || each.outcome === 'conflict' ? 'bad' : ''}>
                  {each.outcome}{each.why && `: ${WHY[each.why] ?? each.why}`}
                </td>
                <td class="number">{each.value === undefined ? '' : grouped(each.value)}</td>
                <td>{local(each.time)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Wide>
    </section>
  );
}
