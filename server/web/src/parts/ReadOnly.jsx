/** Instead of a form, if the token may only read. */
export function ReadOnly() {
  return <p class="note">You are signed in with a token that only reads.</p>;
}
