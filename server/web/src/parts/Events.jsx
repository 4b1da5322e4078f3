import { useData } from './useData.js';
import { local, shown } from '../text.js';
import { Trouble } from './Trouble.jsx';
import { Wide } from './Wide.jsx';

/** What the server wrote to its log last. */
export function Events() {
  const { data, problem } = useData('/v1/events?limit=20', 10000);
  const rows = data?.events || [];
  return (
    <section class="card" aria-labelledby="events">
      <h2 id="events">Events</h2>
      <Trouble problem={problem} />
      {data && rows.length === 0 && <p class="note">none since the start</p>}
      {rows.length > 0 && (
        <Wide label="Events">
          <table>
            <thead><tr><th scope="col">Time</th><th scope="col">Level</th><th scope="col">Event</th></tr></thead>
            <tbody>
              {rows.map((each, i) => (
                <tr key={`${each.time} ${i}`}>
                  <td>{local(each.time)}</td>
                  <td class={each.level === 'info' ? '' : 'bad'}>{each.level}</td>
                  <td class="long">
                    {shown(each.message)}
                    {Object.entries(each.details).map(([key, value]) => (
                      <div key={key} class="note">{shown(key)}: {shown(value)}</div>
                    ))}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </Wide>
      )}
    </section>
  );
}
