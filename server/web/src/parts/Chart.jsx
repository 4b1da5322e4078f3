import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';

const HEIGHT = 180;

/** A bar for the change in each bucket of a history; the end of the last one makes room for it. */
export function Buckets({ history, label }) {
  const { buckets, to } = history;
  return (
    <Chart
      times={[...buckets.map((each) => each.from), to].map((each) => Date.parse(each) / 1000)}
      values={[...buckets.map((each) => (each.change === undefined ? null : Number(each.change))), null]}
      label={label}
      isBars
    />
  );
}

const two = (number) => String(number).padStart(2, '0');

/** The texts of the axis of time, in the time zone of the browser: dates, or times of 24 hours. */
function times24(chart, places, axis, space, step) {
  return places.map((seconds) => {
    const time = new Date(seconds * 1000);
    const isDay = step >= 86400 || (time.getHours() === 0 && time.getMinutes() === 0 && time.getSeconds() === 0);
    if (isDay) return `${two(time.getMonth() + 1)}-${two(time.getDate())}`;
    const minute = `${two(time.getHours())}:${two(time.getMinutes())}`;
    return step < 60 ? `${minute}:${two(time.getSeconds())}` : minute;
  });
}

/** What the axis of values shows: with 0 if all are equal, so that they are not at an edge of it. */
function range(chart, least, greatest) {
  if (least === null) return [0, 1];
  return least === greatest
    ? [Math.min(0, least), Math.max(0, greatest) || (least < 0 ? 0 : 1)]
    : uPlot.rangeNum(least, greatest, 0.1, true);
}

/**
 * A line of values over time. The values are repeated in words by the page, for a screen reader.
 *
 * @param secondsMin the least time that is shown
 */
export function Chart({ times, values, label, isBars, secondsMin = 0 }) {
  const place = useRef(null);
  const chart = useRef(null);
  useEffect(() => {
    const element = place.current;
    const style = getComputedStyle(document.documentElement);
    const color = (name) => style.getPropertyValue(name).trim();
    const axis = { stroke: color('--quiet'), grid: { stroke: color('--line'), width: 1 } };
    chart.current = new uPlot(
      {
        width: element.clientWidth,
        height: HEIGHT,
        legend: { show: false },
        cursor: { show: false },
        axes: [{ ...axis, values: times24, space: 70 }, { ...axis, size: 70 }],
        scales: {
          x: secondsMin ? { range: (self, first, last) => [Math.min(first, last - secondsMin), last] } : {},
          y: { range },
        },
        series: [
          {},
          {
            label,
            stroke: color('--accent'),
            fill: isBars ? color('--accent') : undefined,
            width: isBars ? 1 : 2,
            paths: isBars ? uPlot.paths.bars({ align: 1 }) : uPlot.paths.stepped({ align: 1 }),
            points: { show: false },
          },
        ],
      },
      [times, values],
      element,
    );
    const resized = new ResizeObserver(() => {
      chart.current?.setSize({ width: element.clientWidth, height: HEIGHT });
    });
    resized.observe(element);
    return () => {
      resized.disconnect();
      chart.current.destroy();
      chart.current = null;
    };
  }, []);
  useEffect(() => {
    chart.current?.setData([times, values]);
  }, [times, values]);
  return <div class="chart" role="img" aria-label={label} ref={place} />;
}
