import { useState } from 'preact/hooks';
import { signIn, token } from '../api.js';

export function SignIn() {
  const [text, setText] = useState('');
  const [isMalformed, setMalformed] = useState(false);
  return (
    <section class="card narrow">
      <h1>Sign in</h1>
      <p>This server requires a token: that of its <code>--token-file</code>, or of its <code>--read-token-file</code>, which only reads.</p>
      {isMalformed ? (
        <p class="bad" role="alert">A token has only visible ASCII characters, without blanks.</p>
      ) : (
        token.value && <p class="bad" role="alert">The server does not accept this token.</p>
      )}
      <form
        onSubmit={(event) => {
          event.preventDefault();
          const given = text.trim();
          const isToken = /^[\x21-\x7e]+$/.test(given);
          setMalformed(!isToken);
          if (isToken) {
            signIn(given);
          }
        }}
      >
        <label>
          Token
          <input
            type="password"
            autocomplete="current-password"
            required
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
          />
        </label>
        <button type="submit">Sign in</button>
      </form>
      <p class="note">It is kept in this tab until you close it.</p>
    </section>
  );
}
