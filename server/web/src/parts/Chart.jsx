import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { grouped } from '../text.js';

const HEIGHT = 180;
const DIGITS_MAX = 13; // with the spaces between them; more would leave no room for the chart
const DIGIT_PIXELS = 7.5;
const DECIMAL = Array.from({ length: 28 }, (_, i) => [1, 2, 5].map((each) => Number(`${each}e${i - 9}`))).flat();
const WHOLE = Array.from({ length: 19 }, (_, i) => [1, 2, 5].map((each) => each * 10 ** i)).flat();

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

/** The texts of the axis of values. */
function numbers(chart, splits) {
  return splits.map((each) => (grouped(each).length > DIGITS_MAX ? each.toExponential(3) : grouped(each)));
}

/** Between which values lines are drawn: no halves if all values are whole. */
function steps(chart) {
  return chart.data[1].every((each) => each === null || Number.isInteger(each)) ? WHOLE : DECIMAL;
}

function widthOf(chart, texts) {
  return 24 + DIGIT_PIXELS * Math.max(1, ...(texts || []).map((each) => each.length));
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
 * @param fromZero whether 0 is shown in any case
 */
export function Chart({ times, values, label, isBars, secondsMin = 0, fromZero }) {
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
        axes: [{ ...axis, values: times24, space: 70 }, { ...axis, size: widthOf, values: numbers, incrs: steps }],
        padding: [null, 24, null, null],
        scales: {
          x: secondsMin ? { range: (self, first, last) => [Math.min(first, last - secondsMin), last] } : {},
          y: { range: fromZero ? (self, least, greatest) => range(self, least === null ? null : Math.min(0, least), greatest) : range },
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
