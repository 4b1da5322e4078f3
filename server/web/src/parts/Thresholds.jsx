import { href } from '../router.js';
import { grouped, local, shown } from '../text.js';
import { useData } from './useData.js';
import { useServer } from './useServer.js';
import { Wide } from './Wide.jsx';

const SHOWN = 100;

/** The thresholds that apply to a counter, or all, and whether their webhooks take what is sent. */
export function Thresholds({ name }) {
  const how = useServer();
  const found = useData(how?.technique === 'engine' && '/v1/thresholds', 10000);
  const all = found.data?.thresholds || [];
  const rows = name === undefined ? all : all.filter((each) => applies(each, name));
  if (rows.length === 0) {
    return null;
  }
  return (
    <section class="card" aria-labelledby="thresholds">
      <h2 id="thresholds">Thresholds</h2>
      <Wide label="Thresholds">
        <table>
          <thead>
            <tr>
              <th scope="col">Id</th><th scope="col">Of</th><th scope="col">Direction</th><th scope="col" class="number">At</th>
              <th scope="col" class="number">Waiting</th><th scope="col">Webhook</th>
            </tr>
          </thead>
          <tbody>
            {rows.slice(0, SHOWN).map((each) => (
              <tr key={each.id}>
                <td><code>{each.id}</code></td>
                <td class="long"><Of threshold={each} name={name} /></td>
                <td>{each.direction}</td>
                <td class="number">{grouped(each.at)}</td>
                <td class="number">{grouped(each.waiting)}</td>
                <td class="long">
                  {each.webhook}
                  {each.failing && (
                    <p class="bad">
                      {each.failing.reason}
                      {each.failing.since && `; failed attempts since ${local(each.failing.since)}: ${each.failing.attempts}`}
                    </p>
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </Wide>
      {rows.length > SHOWN && <p class="note">{grouped(rows.length - SHOWN)} more: <code>quipu threshold list</code></p>}
    </section>
  );
}

function applies(threshold, name) {
  return threshold.counter === undefined ? name.startsWith(threshold.prefix) : threshold.counter === name;
}

/** The counter, or the prefix of those that may cross it; a link on other pages. */
function Of({ threshold, name }) {
  const text = <bdi>{shown(threshold.counter ?? threshold.prefix)}</bdi>;
  if (threshold.counter === undefined) {
    return <>{name === undefined ? <a href={href('counters', { prefix: threshold.prefix })}>{text}</a> : text}*</>;
  }
  return name === undefined ? <a href={href('counter', { name: threshold.counter })}>{text}</a> : text;
}
