/**
 * Buttons for the pages of a list; nothing if there is one page.
 *
 * @param before cursors of the pages before
 * @param next cursor of the next page, if there is one
 * @param go takes the cursors before the page to show
 */
export function Pager({ before, next, go }) {
  return (before.length > 0 || next) && (
    <p class="row">
      <button disabled={before.length === 0} onClick={() => go(before.slice(0, -1))}>Previous page</button>
      <button disabled={!next} onClick={() => go([...before, next])}>Next page</button>
    </p>
  );
}
