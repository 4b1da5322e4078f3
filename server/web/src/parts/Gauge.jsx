import { useServer } from './useServer.js';
import { grouped } from '../text.js';

/** Where a value is between the bounds that all counters of the server have. */
export function Gauge({ value }) {
  const how = useServer();
  const { floor, ceiling } = how || {};
  if (value === undefined || value === null || (floor === undefined && ceiling === undefined)) {
    return null;
  }
  const bounds = [floor !== undefined && `not below ${grouped(floor)}`, ceiling !== undefined && `not above ${grouped(ceiling)}`]
    .filter(Boolean)
    .join(', ');
  return (
    <p>
      {floor !== undefined && ceiling !== undefined && (
        <meter min={Number(floor)} max={Number(ceiling)} value={Number(value)} aria-label="Value between its bounds" />
      )}
      {bounds}
    </p>
  );
}
