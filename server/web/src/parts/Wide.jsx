/** Content that may be wider than a narrow window, and scrolls there; by keyboard, too. */
export function Wide({ label, children }) {
  return <div class="wide" tabIndex={0} role="group" aria-label={label}>{children}</div>;
}
