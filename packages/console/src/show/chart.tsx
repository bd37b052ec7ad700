/** A line chart over time. It is redrawn in place when points arrive, and made anew when colours or size change. */
import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import { paletteVersion } from '../shell/preferences.ts';
import { clockTime } from './format.ts';

export interface Line {
  readonly label: string;
  /** Name of a colour variable of the style sheet. */
  readonly colour: string;
  readonly values: readonly (number | null)[];
  readonly isFilled?: boolean;
  /** Most spans have no value: the others are connected, and each has a dot. */
  readonly isSparse?: boolean;
}

export interface ChartProps {
  readonly title: string;
  /** Epoch ms. */
  readonly times: readonly number[];
  readonly lines: readonly Line[];
  readonly format: (value: number) => string;
  /** Halves make no sense on its axis. */
  readonly isWhole?: boolean;
}

const HEIGHT = 160;
const WHOLE = Array.from({ length: 8 }, (_, power) => [1, 2, 5].map((first) => first * 10 ** power)).flat();

const colourOf = (name: string): string =>
  getComputedStyle(document.documentElement).getPropertyValue(name).trim();

function dataOf({ times, lines }: ChartProps): uPlot.AlignedData {
  return [times.map((at) => at / 1_000), ...lines.map(({ values }) => [...values])] as uPlot.AlignedData;
}

function optionsOf({ lines, format, isWhole }: ChartProps, width: number): uPlot.Options {
  const axis = {
    stroke: colourOf('--quiet'),
    grid: { stroke: colourOf('--line'), width: 1 },
    ticks: { show: false },
    font: '11px system-ui, sans-serif',
  };
  return {
    width,
    height: HEIGHT,
    legend: { show: false },
    cursor: { y: false, points: { size: 6 } },
    scales: { y: { range: (_plot, _low, high) => [0, Math.max(1, (high ?? 0) * 1.1)] } },
    axes: [
      { ...axis, space: 80, size: 28, values: (_plot, at) => at.map((second) => clockTime(second * 1_000)) },
      {
        ...axis,
        size: 62,
        values: (_plot, all) => all.map(format),
        ...(isWhole && { incrs: WHOLE }),
      },
    ],
    series: [
      {},
      ...lines.map(({ label, colour, isFilled, isSparse = false }) => ({
        label,
        stroke: colourOf(colour),
        width: 1.75,
        spanGaps: isSparse,
        points: { show: isSparse, size: 5, fill: colourOf(colour) },
        ...(isFilled && { fill: `${colourOf(colour)}22` }),
      })),
    ],
  };
}

export function Chart(props: ChartProps) {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | undefined>(undefined);
  const { title, lines, format } = props;
  const labels = lines.map(({ label }) => label).join();

  // Colours and labels are part of the plot; points are set below.
  useEffect(() => {
    const { current } = box;
    if (current === null) return;
    plot.current = new uPlot(optionsOf(props, current.clientWidth), dataOf(props), current);
    const watcher = new ResizeObserver(() => {
      plot.current?.setSize({ width: current.clientWidth, height: HEIGHT });
    });
    watcher.observe(current);
    return () => {
      watcher.disconnect();
      plot.current?.destroy();
    };
  }, [paletteVersion.value, labels]);

  useEffect(() => plot.current?.setData(dataOf(props)));

  return (
    <figure class="chart">
      <figcaption>
        <span>{title}</span>
        <ul>
          {lines.map(({ label, colour, values }) => {
            const last = values.findLast((value) => value !== null);
            return (
              <li key={label}>
                <i style={{ background: `var(${colour})` }} />
                {label} <b>{last === undefined || last === null ? '' : format(last)}</b>
              </li>
            );
          })}
        </ul>
      </figcaption>
      <div ref={box} aria-hidden="true" />
    </figure>
  );
}
