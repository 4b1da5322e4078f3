import { useState } from 'preact/hooks';

/** A command or code with a button that copies it. */
export function Copy({ label, text }) {
  const [isCopied, setCopied] = useState(false);
  async function copy() {
    await navigator.clipboard.writeText(text);
    setCopied(true);
    setTimeout(() => setCopied(false), 2000);
  }
  return (
    <figure class="code">
      <figcaption>
        {label}
        {navigator.clipboard && (
          <button class="quiet" onClick={copy} aria-label={`Copy ${label}`}>
            {isCopied ? 'Copied' : 'Copy'}
          </button>
        )}
      </figcaption>
      <pre tabIndex={0}><code>{text}</code></pre>
    </figure>
  );
}
