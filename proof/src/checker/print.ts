/** What a run was like, for people: the table at its end, and the story around what went wrong. Pure. */
import { type Happening, ofKind } from '../../../packages/scheduler/dist/simulation/history.js';
import { faultsOf } from './faults.ts';
import type { Finding, Violation } from './violation.ts';

/** How long after its beginning a fault may show. */
const SHOWS_MS = 15_000;
/** Of one invariant. */
const MOST_VIOLATIONS = 8;
const AROUND_MS = 1_500;
const MOST_LINES = 80;

/** The longest time without a result anywhere, beginning within reach of the fault. */
export function longestGapMs(history: readonly Happening[], from: number, to: number): number {
  const results = ofKind(history, 'outcome')
    .filter(({ result, at }) => result !== undefined && at > from && at < to)
    .map(({ at }) => at);
  const moments = [from, ...results, to];
  return Math.max(...moments.slice(1).map((at, index) => at - (moments[index] ?? 0)));
}

export function printSummary(history: readonly Happening[], { counts, violations }: Finding): string {
  const quietAt = ofKind(history, 'quiet')[0]?.at ?? history.at(-1)?.at ?? 0;
  const faults = faultsOf(history).map(({ number, what, target, beganAt, endedAt }) => [
    String(number),
    what,
    target,
    seconds(beganAt),
    Number.isFinite(endedAt) ? seconds(endedAt - beganAt) : 'for good',
    seconds(longestGapMs(history, beganAt, Math.min(beganAt + SHOWS_MS, quietAt))),
  ]);
  const rows = Object.entries(counts).map(([name, count]) => [name, String(count)]);
  return [
    table([['fault', 'what', 'target', 'at', 'lasted', 'longest gap without a result'], ...faults]),
    table([['counted', ''], ...rows, ['violations', String(violations.length)]]),
  ].join('\n\n');
}

export function printViolations(history: readonly Happening[], violations: readonly Violation[]): string {
  const [first] = violations;
  if (first === undefined) return 'no violations';
  const invariants = [...new Set(violations.map(({ invariant }) => invariant))];
  const lines = invariants.flatMap((invariant) => {
    const broken = violations.filter((each) => each.invariant === invariant);
    const shown = broken
      .slice(0, MOST_VIOLATIONS)
      .map(({ at, says }) => `${seconds(at).padStart(9)}  ${says}`);
    return [`${invariant}, broken ${broken.length} times:`, ...shown];
  });
  return [...lines, '', `The story of "${first.says}":`, ...storyOf(history, first)].join('\n');
}

/** Everything about the same job or request at any time, and which servers broke around it. */
export function storyOf(history: readonly Happening[], { about, at }: Violation): string[] {
  const names = new Set(about.filter((name) => !name.startsWith('node-')));
  for (const each of history) {
    if (each.kind === 'accepted' && (names.has(each.request) || names.has(each.job)))
      names.add(each.request).add(each.job);
  }
  const isAbout = (each: Happening): boolean =>
    Object.values(each).some((value) => typeof value === 'string' && names.has(value));
  const great = new Set(
    faultsOf(history).flatMap(({ number, what }) => (/^(node|client)_/.test(what) ? [] : [number])),
  );
  const isFault = (each: Happening): boolean =>
    each.kind.startsWith('instance_') || ('fault' in each && great.has(each.fault));
  const isNear = (each: Happening): boolean =>
    Math.abs(each.at - at) < AROUND_MS &&
    Object.values(each).some((value) => about.includes(value as string));
  const lines = history.filter((each) => isAbout(each) || isFault(each) || isNear(each));
  const begins = Math.max(0, lines.findIndex((each) => isAbout(each)) - 6);
  return lines.slice(begins, begins + MOST_LINES).map(printHappening);
}

export function printHappening({ at, kind, ...rest }: Happening): string {
  const fields = Object.entries(rest).map(
    ([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
  return `${seconds(at).padStart(9)}  ${kind.padEnd(14)} ${fields.join(' ')}`;
}

const seconds = (ms: number): string => `${(ms / 1_000).toFixed(2)} s`;

function table(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
