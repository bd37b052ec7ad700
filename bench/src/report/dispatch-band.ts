/** Every dispatch path that was measured, from its p50 to its p99, against the target of 0.2 to 5 ms. */
import type { ScenarioReport } from '../scenario/run-scenario.ts';
import { shownAt } from '../scenario/scenario.ts';
import { OURS } from '../scenario/vocabulary.ts';
import { amount } from '../show.ts';
import { createAxis, tickText } from './axis.ts';
import { asText } from './chart.ts';

export const PROMISED_MS = { from: 0.2, to: 5 } as const;

interface Path {
  readonly name: string;
  readonly p50: number;
  readonly p99: number;
}

function pathsOf(reports: readonly ScenarioReport[]): readonly Path[] {
  return reports.flatMap(({ scenario, points }) =>
    points.flatMap(({ value, results }): Path[] => {
      const { dispatch_p50_ms: p50, dispatch_p99_ms: p99 } = results[OURS]?.figures ?? {};
      if (p50 === undefined || p99 === undefined || !(p50 > 0) || !(p99 > 0)) return [];
      const at = shownAt(scenario, value);
      return [{ name: at === '' ? scenario.name : `${scenario.name}, ${at}`, p50, p99 }];
    }),
  );
}

const WIDTH = 460;
const ROW = 40;
const MARGIN = 12;
const FOOT = 42;

export function dispatchBand(reports: readonly ScenarioReport[]): string {
  const paths = pathsOf(reports);
  if (paths.length === 0) return '';
  const values = [...paths.flatMap(({ p50, p99 }) => [p50, p99]), PROMISED_MS.from, PROMISED_MS.to];
  const x = createAxis('milliseconds from due to with a node, p50 to p99', 'log', values);
  const across = (value: number): number => MARGIN + x.place(value) * (WIDTH - 2 * MARGIN);
  const floor = paths.length * ROW + 8;
  const [from, to] = [across(PROMISED_MS.from), across(PROMISED_MS.to)];
  const rows = paths.map(({ name, p50, p99 }, index) => {
    const top = index * ROW + 8;
    const [left, right] = [across(p50), across(p99)];
    const tooltip = `${name}: p50 ${amount(p50)} ms, p99 ${amount(p99)} ms`;
    return `<g><title>${asText(tooltip)}</title><text class="row-name" x="${MARGIN}" y="${top + 12}">${asText(tooltip)}</text>
<line class="span" x1="${left.toFixed(1)}" x2="${right.toFixed(1)}" y1="${top + 25}" y2="${top + 25}"/><circle class="dot c0" cx="${left.toFixed(1)}" cy="${top + 25}" r="4.5"/><circle class="ring" cx="${right.toFixed(1)}" cy="${top + 25}" r="4.5"/></g>`;
  });
  const ticks = x.ticks.map((tick) => {
    const at = across(tick).toFixed(1);
    return `<line class="mark" x1="${at}" x2="${at}" y1="${floor}" y2="${floor + 5}"/><text class="tick" x="${at}" y="${floor + 18}" text-anchor="middle">${tickText(tick)}</text>`;
  });
  return `<figure class="chart wide"><svg viewBox="0 0 ${WIDTH} ${floor + FOOT}" role="img" aria-label="Dispatch path against 0.2 to 5 ms">
<rect class="band" x="${from.toFixed(1)}" y="0" width="${(to - from).toFixed(1)}" height="${floor}"/>${rows.join('')}
<line class="axis" x1="${MARGIN}" x2="${WIDTH - MARGIN}" y1="${floor}" y2="${floor}"/>${ticks.join('')}
<text class="label" x="${WIDTH / 2}" y="${floor + 36}" text-anchor="middle">${asText(x.label)}</text></svg></figure>`;
}
