import { render } from 'preact';
import { isTokenNeeded, token, signIn } from './api.js';
import { href, place } from './router.js';
import { state } from './stream.js';
import { Counter } from './pages/Counter.jsx';
import { Counters } from './pages/Counters.jsx';
import { Failures } from './pages/Failures.jsx';
import { Overview } from './pages/Overview.jsx';
import { Series } from './pages/Series.jsx';
import { Server } from './pages/Server.jsx';
import { Views } from './pages/Views.jsx';
import { SignIn } from './parts/SignIn.jsx';
import './style.css';

const PAGES = {
  overview: Overview, counters: Counters, counter: Counter, views: Views, series: Series, failures: Failures, server: Server,
};
const LINKS = [
  ['overview', 'Overview'], ['counters', 'Counters'], ['views', 'Views'], ['series', 'Series'], ['failures', 'Failures'],
  ['server', 'Server'],
];
const STATES = {
  live: 'live',
  connecting: 'connecting…',
  lost: 'no connection',
  unsupported: 'not live: this store does not report changes',
};

function App() {
  const { page, query } = place.value;
  const Page = page === 'counter' && !query.name ? Counters : PAGES[page] || Overview;
  return (
    <>
      <a class="skip" href="#main" onClick={skip}>Skip to the content</a>
      <header>
        <strong class="brand">Quipu</strong>
        <nav aria-label="Pages">
          {LINKS.map(([name, text]) => (
            <a href={href(name)} aria-current={name === page ? 'page' : undefined}>{text}</a>
          ))}
        </nav>
        <span class={`state ${state.value}`} role="status">{STATES[state.value]}</span>
        {token.value && <button class="quiet" onClick={() => signIn('')}>Sign out</button>}
      </header>
      <main id="main" tabIndex={-1}>
        {state.value === 'lost' && (
          <p class="trouble" role="alert">The server does not respond. What is shown is what it was before.</p>
        )}
        {isTokenNeeded.value ? <SignIn /> : <Page key={`${page} ${query.name || query.url || query.records || query.revisions || ''}`} query={query} />}
      </main>
    </>
  );
}

function skip(event) {
  event.preventDefault(); // the fragment is the place
  document.getElementById('main').focus();
}

render(<App />, document.getElementById('page'));
