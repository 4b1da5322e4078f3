import { useState } from 'preact/hooks';
import { signIn, token } from '../api.js';

export function SignIn() {
  const [text, setText] = useState('');
  return (
    <section class="card narrow">
      <h1>Sign in</h1>
      <p>This server requires a token: that of its <code>--token-file</code>.</p>
      {token.value && <p class="bad" role="alert">The server does not accept this token.</p>}
      <form
        onSubmit={(event) => {
          event.preventDefault();
          signIn(text.trim());
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
