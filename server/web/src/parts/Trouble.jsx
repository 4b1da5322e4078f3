/** A problem in words; nothing if there is none. */
export function Trouble({ problem }) {
  return problem ? <p class="trouble" role="alert">{problem.message}</p> : null;
}
