import { path } from '../api.js';
import { useData } from './useData.js';
import { useServer } from './useServer.js';
import { Wide } from './Wide.jsx';
import { grouped, shown } from '../text.js';

const SIZE = { row: 28, column: 130, margin: 8 };

/** How a technique stores a counter: shards, regions, hits or versions; nothing if it is stored as a whole. */
export function Parts({ name }) {
  const server = useServer();
  const { data } = useData(server?.parts && `${path(name)}/parts`, 10000);
  const rows = data?.parts || [];
  const versions = data?.versions || [];
  if (rows.length === 0 && versions.length === 0) {
    return null;
  }
  return (
    <section class="card" aria-labelledby="parts">
      <h2 id="parts">Stored parts</h2>
      {rows.length > 0 && <Table rows={rows} />}
      {versions.length > 0 && <Tree versions={versions} />}
    </section>
  );
}

function Table({ rows }) {
  const isBounded = rows.some((each) => each.below !== undefined || each.above !== undefined);
  return (
    <Wide label="Parts">
      <table>
        <thead>
          <tr>
            <th scope="col">Part</th><th scope="col" class="number">Counted</th>
            {isBounded && <th scope="col" class="number wrap">May subtract by itself</th>}
            {isBounded && <th scope="col" class="number wrap">May add by itself</th>}
          </tr>
        </thead>
        <tbody>
          {rows.map((each) => (
            <tr key={each.name}>
              <td>{shown(each.name)}{each.note && <span class="note"> ({each.note})</span>}</td>
              <td class="number">{grouped(each.value)}</td>
              {isBounded && <td class="number">{grouped(each.below ?? 'all')}</td>}
              {isBounded && <td class="number">{grouped(each.above ?? 'all')}</td>}
            </tr>
          ))}
        </tbody>
      </table>
    </Wide>
  );
}

/** The tree of versions: the last one of each branch adds to the value. */
function Tree({ versions }) {
  const placed = place(versions);
  const width = SIZE.column * (1 + Math.max(...placed.map((each) => each.depth))) + 2 * SIZE.margin;
  const at = new Map(placed.map((each) => [each.key, each]));
  const x = (each) => SIZE.margin + each.depth * SIZE.column;
  const y = (each) => SIZE.margin + each.row * SIZE.row + SIZE.row / 2;
  return (
    <Wide label="Tree of versions">
      <svg width={width} height={placed.length * SIZE.row + 2 * SIZE.margin} role="img" aria-label={`${versions.length} versions`}>
        {placed.map((each) => {
          const parent = at.get(each.parent);
          return parent && (
            <path d={`M${x(parent) + 12} ${y(parent)} V${y(each)} H${x(each)}`} fill="none" stroke="var(--quiet)" />
          );
        })}
        {placed.map((each) => (
          <text x={x(each) + 4} y={y(each) + 5} fill={each.own === undefined ? 'var(--quiet)' : 'var(--text)'}>
            {each.count}{each.own === undefined ? '' : ` (${each.own > 0 ? '+' : ''}${each.own})`}
          </text>
        ))}
      </svg>
    </Wide>
  );
}

/** Gives each version a row, below its parent, and a depth. */
function place(versions) {
  const children = new Map();
  const known = new Set(versions.map((each) => `${each.item} ${each.version}`));
  for (const each of versions) {
    const parent = `${each.item} ${each.parent}`;
    const above = known.has(parent) ? parent : '';
    children.set(above, [...(children.get(above) || []), each]);
  }
  const placed = [];
  const open = (children.get('') || []).map((each) => ({ each, depth: 0, parent: '' })).toReversed();
  while (open.length) {
    const { each, depth, parent } = open.pop();
    const key = `${each.item} ${each.version}`;
    placed.push({ ...each, key, parent, depth, row: placed.length });
    for (const child of (children.get(key) || []).toReversed()) {
      open.push({ each: child, depth: depth + 1, parent: key });
    }
  }
  return placed;
}
