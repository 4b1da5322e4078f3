import { useEffect, useState } from 'preact/hooks';
import { Pager } from './Pager.jsx';
import { Trouble } from './Trouble.jsx';
import { useData } from './useData.js';
import { Wide } from './Wide.jsx';
import { href, place } from '../router.js';
import { grouped, local, shown } from '../text.js';

/**
 * A list of names with a number each, searched, ordered, and page by page; the search and the order are in the address.
 *
 * @param path of the list in the API
 * @param list its name in a response, and the names of its two columns there
 * @param heads titles of the columns
 * @param link returns where a name leads
 * @param moves whether it can also be ordered by change and by rate
 */
export function Listed({ path, list: [what, name, number], heads, empty, link, moves }) {
  const { page, query } = place.value;
  const sought = query[`${what}-q`] || '';
  const sort = query[`${what}-sort`] || (moves ? `-${number}` : name);
  const [text, setText] = useState(sought);
  const show = (changed) => {
    location.hash = href(page, { ...query, [`${what}-q`]: sought, [`${what}-sort`]: sort, ...changed });
  };
  const [pages, setPages] = useState([]); // cursors of the pages before
  const cursor = pages.at(-1) || '';
  const moved = ['change', 'rate'].find((each) => sort === `-${each}`);
  const found = useData(
    `${path}?${new URLSearchParams({ q: sought, sort, limit: 50, ...(cursor && { cursor }) })}`,
    10000,
  );
  useEffect(() => setPages([]), [sought, sort]);
  const rows = found.data?.[what] || [];
  return (
    <>
      <form
        class="row"
        role="search"
        aria-label={`Search ${what}`}
        onSubmit={(event) => {
          event.preventDefault();
          show({ [`${what}-q`]: text });
        }}
      >
        <label>
          {heads[0]} contains
          <input type="search" value={text} onInput={(event) => setText(event.currentTarget.value)} />
        </label>
        <label>
          Order
          <select value={sort} onChange={(event) => show({ [`${what}-sort`]: event.currentTarget.value })}>
            <option value={name}>{heads[0]}</option>
            <option value={`-${number}`}>{heads[1]}, greatest first</option>
            <option value={number}>{heads[1]}, least first</option>
            {moves && <option value="-change">{heads[1]} this hour, most first</option>}
            {moves && <option value="-rate">{heads[1]} per second now, most first</option>}
          </select>
        </label>
        <button type="submit">Search</button>
      </form>
      <Trouble problem={found.problem} />
      {found.data && rows.length === 0 && <p class="note">{empty}</p>}
      {moved && found.data?.since && <p class="note">Since {local(found.data.since)}.</p>}
      {rows.length > 0 && (
        <Wide label={what}>
          <table>
            <thead>
              <tr>
                <th scope="col">{heads[0]}</th>
                {moved && <th scope="col" class="number">{moved === 'rate' ? 'Per second' : 'Change'}</th>}
                <th scope="col" class="number">{heads[1]}</th>
              </tr>
            </thead>
            <tbody>
              {rows.map((each) => (
                <tr key={each[name]}>
                  <td class="long"><a href={link(each[name])}><bdi>{shown(each[name])}</bdi></a></td>
                  {moved && <td class="number">{grouped(each[moved] ?? '')}</td>}
                  <td class="number">{grouped(each[number])}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </Wide>
      )}
      <Pager before={pages} next={found.data?.cursor} go={setPages} />
    </>
  );
}
