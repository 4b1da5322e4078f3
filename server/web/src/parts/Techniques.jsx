import { useData } from './useData.js';
import { Trouble } from './Trouble.jsx';

/** What each technique guarantees, those of this store first. */
export function Techniques() {
  const { data, problem } = useData('/v1/techniques');
  const all = (data?.techniques || []).toSorted((one, other) => rank(one) - rank(other));
  return (
    <section class="card" aria-labelledby="techniques">
      <h2 id="techniques">Techniques</h2>
      <Trouble problem={problem} />
      {all.map((each) => (
        <details key={each.name} open={each.current}>
          <summary>
            <code>{each.name}</code>
            {each.current ? ' (this server)' : each.works === false ? ' (not on this store)' : ''}
          </summary>
          <p>{each.summary}</p>
          {each.lacks && <p class="note">This store lacks {each.lacks.join(' and ')}.</p>}
          <dl class="facts">
            <dt>Guarantees</dt>
            <dd>
              {each.guarantees.length === 0 ? 'none' : <ul>{each.guarantees.map((one) => <li key={one}>{one}</li>)}</ul>}
            </dd>
            <dt>After a lost reply</dt><dd>{each.afterLostReply}</dd>
            <dt>An add</dt><dd>{cost(each.perAdd)}</dd>
            <dt>A read</dt><dd>{cost(each.perRead)}</dd>
          </dl>
        </details>
      ))}
    </section>
  );
}

function rank(technique) {
  return technique.current ? 0 : technique.works === false ? 2 : 1;
}

function cost({ roundTrips, writes, itemsKept }) {
  return `round trips: ${roundTrips}, items written: ${writes}, items kept: ${itemsKept}`;
}
