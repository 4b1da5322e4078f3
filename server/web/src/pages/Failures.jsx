import { Copy } from '../parts/Copy.jsx';
import { Trouble } from '../parts/Trouble.jsx';
import { useData } from '../parts/useData.js';
import { href } from '../router.js';

// As the server names them: see /v1/demo.
const ACTIONS = [
  ['add', 'Add 1'],
  ['drop-reply', 'Drop the reply'],
  ['deliver-twice', 'Deliver twice'],
  ['kill-writer', 'Kill the writer'],
  ['partition', 'Partition the region'],
];
const TECHNIQUES = [
  'atomic-add:give-up', 'atomic-add', 'optimistic', 'optimistic-with-history', 'token-set', 'marker-item', 'item-collection',
];
const SHOWN = 3;
const DEFAULT = 'atomic-add:give-up,atomic-add,marker-item';
const ADDS_MAX = 100;

/** Three techniques under the same failures. The place has the whole run, so that it can be sent to a colleague. */
export function Failures({ query }) {
  const actions = (query.run || '').split(',').filter(Boolean);
  const techniques = (query.techniques || DEFAULT).split(',').slice(0, SHOWN);
  const seed = query.seed || '1';
  const found = useData(
    `/v1/demo?${new URLSearchParams({ actions: actions.join(',') || 'add', techniques: techniques.join(','), seed })}`,
  );
  const steps = actions.length ? found.data?.steps || [] : [];
  const last = steps.at(-1);
  const truth = last ? last.true : 0;
  function go(change) {
    location.hash = href('failures', { run: query.run, techniques: query.techniques, seed: query.seed, ...change });
  }
  return (
    <>
      <h1>What failures do</h1>
      <p>
        Clients add 1 with three techniques, each on a store of its own in this server's memory. The same requests and replies
        are lost for all of them. Each attempt is made by a new process. To a technique without request ids, each attempt is another
        add: that it counts an add at most once concerns one attempt. Nothing is kept.
      </p>
      <section class="card" aria-labelledby="happens">
        <h2 id="happens">What happens</h2>
        <div class="row">
          {ACTIONS.map(([action, text]) => (
            <button
              key={action}
              disabled={truth + (action === 'partition' ? 5 : 1) > ADDS_MAX}
              onClick={() => go({ run: [...actions, action].join(',') })}
            >
              {text}
            </button>
          ))}
          <button disabled={!actions.length} onClick={() => go({ run: '' })}>Start again</button>
        </div>
        <form class="row" onSubmit={(event) => event.preventDefault()}>
          <label>
            Seed
            <input
              inputmode="numeric"
              pattern="[0-9]{1,15}"
              value={seed}
              onChange={(event) => event.currentTarget.checkValidity() && go({ seed: event.currentTarget.value })}
            />
          </label>
          {techniques.map((chosen, i) => (
            <label key={i}>
              Technique {i + 1}
              <select
                value={chosen}
                onChange={(event) => go({ techniques: techniques.with(i, event.currentTarget.value).join(',') })}
              >
                {TECHNIQUES.map((each) => <option key={each} value={each}>{title(each)}</option>)}
              </select>
            </label>
          ))}
        </form>
        <Trouble problem={found.problem} />
      </section>
      <div class="columns four" aria-live="polite">
        <Stage name="True count" value={truth} truth={truth} note="How often clients meant to add 1." />
        {techniques.map((each, i) => (
          <Stage
            key={`${i} ${each}`}
            name={title(each)}
            value={last ? last.counts[i]?.value : 0}
            truth={truth}
            note={`After a lost reply: ${found.data?.techniques[i]?.afterLostReply ?? '…'}.`}
          />
        ))}
      </div>
      {steps.length > 0 && <Steps steps={steps} techniques={techniques} />}
      {actions.length > 0 && (
        <section class="card" aria-labelledby="again">
          <h2 id="again">The same run again</h2>
          <Copy label="Command" text={`quipu demo --seed ${seed} --techniques ${techniques.join(',')} ${actions.join(' ')}`} />
          <Copy label="Address" text={location.href} />
        </section>
      )}
    </>
  );
}

function title(technique) {
  return technique.replace(':give-up', ', not repeated');
}

function Stage({ name, value, truth, note }) {
  const error = value - truth;
  return (
    <section class="card" aria-label={name}>
      <h2>{name}</h2>
      <p class={`figure ${error ? 'bad' : 'good'}`}>
        {value ?? '…'}{error ? ` (${error > 0 ? '+' : '−'}${Math.abs(error)})` : ''}
      </p>
      <p class="note">{error ? (error > 0 ? 'Counted too much. ' : 'Lost some. ') : ''}{note}</p>
    </section>
  );
}

function Steps({ steps, techniques }) {
  return (
    <section class="card" aria-labelledby="steps">
      <h2 id="steps">Step by step</h2>
      <table>
        <thead>
          <tr>
            <th scope="col">What happened</th>
            <th scope="col" class="number">True</th>
            {techniques.map((each, i) => <th key={i} scope="col" class="number wrap">{title(each)}</th>)}
          </tr>
        </thead>
        <tbody>
          {steps.map((step, i) => (
            <tr key={i}>
              <td>{step.what}</td>
              <td class="number">{step.true}</td>
              {step.counts.map((each, j) => (
                <td key={j} class={`number ${each.value === step.true ? '' : 'bad'}`}>{each.value}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
