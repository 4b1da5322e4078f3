import { useEffect, useState } from 'preact/hooks';
import { request, token } from '../api.js';

/** Reads a path, if there is one, when it or a round changes, and again at an interval if there is one. */
export function useData(path, everyMillis, roundOfOthers) {
  const [found, setFound] = useState({ data: null, problem: null });
  const [round, setRound] = useState(0);
  useEffect(() => {
    if (!path) {
      return undefined;
    }
    const abort = new AbortController();
    request(path, { signal: abort.signal })
      .then((data) => setFound({ data, problem: null }))
      .catch((problem) => {
        if (problem.name !== 'AbortError') {
          setFound((before) => ({ data: before.data, problem }));
        }
      });
    return () => abort.abort();
  }, [path, round, roundOfOthers, token.value]);
  useEffect(() => {
    if (!everyMillis) {
      return undefined;
    }
    const timer = setInterval(() => setRound((before) => before + 1), everyMillis);
    return () => clearInterval(timer);
  }, [everyMillis]);
  return { ...found, again: () => setRound((before) => before + 1) };
}
