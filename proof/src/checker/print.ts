/** The report of a run: the table at its end, and the story of each violation. Pure. */
import { type HistoryEvent, ofKind } from '../../../packages/simulation/dist/history.js';
import { faultsOf } from './faults.ts';
import { storyOf } from './story.ts';
import { type Finding, INVARIANTS, type Violation } from './violation.ts';

/** How long after its beginning a fault may show. */
const SHOWS_MS = 15_000;
/** Of one invariant. */
const MOST_VIOLATIONS = 8;
/** Events per story; its end matters most. */
const MOST_LINES = 80;

/** The longest time without any result that begins within the fault's effect. */
export function longestGapMs(history: readonly HistoryEvent[], from: number, to: number): number {
  let [longest, last] = [0, from];
  for (const { result, at } of ofKind(history, 'outcome')) {
    if (result === undefined || at <= from || at >= to) continue;
    longest = Math.max(longest, at - last);
    last = at;
  }
  return Math.max(longest, to - last);
}

export function printSummary(
  history: readonly HistoryEvent[],
  { counts, violations, judged }: Finding,
): string {
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
  const promises = INVARIANTS.map((invariant) => [
    invariant,
    String(judged?.[invariant] ?? 0),
    String(violations.filter((each) => each.invariant === invariant).length),
  ]);
  return [
    table([['fault', 'what', 'target', 'at', 'lasted', 'longest gap without a result'], ...faults]),
    table([['promise', 'judged', 'broken'], ...promises]),
    table([['counted', ''], ...rows, ['violations', String(violations.length)]]),
  ].join('\n\n');
}

export function printViolations(history: readonly HistoryEvent[], violations: readonly Violation[]): string {
  const [first] = violations;
  if (first === undefined) return 'no violations';
  const invariants = [...new Set(violations.map(({ invariant }) => invariant))];
  const lines = invariants.flatMap((invariant) => {
    const broken = violations.filter((each) => each.invariant === invariant);
    const shown = broken
      .slice(0, MOST_VIOLATIONS)
      .map(({ at, message }) => `${seconds(at).padStart(9)}  ${message}`);
    return [`${invariant}, broken ${broken.length} times:`, ...shown];
  });
  return [...lines, '', printStory(history, first)].join('\n');
}

/** The event as one line: when, which actor, what. */
export function printStory(history: readonly HistoryEvent[], violation: Violation): string {
  const lines = storyOf(history, violation).map(printHappening);
  const left = lines.length - MOST_LINES;
  return [
    `The story of "${violation.message}":`,
    ...(left > 0 ? [`${'…'.padStart(9)}  ${left} events before`] : []),
    ...lines.slice(-MOST_LINES),
  ].join('\n');
}

export function printHappening({ at, kind, ...rest }: HistoryEvent): string {
  const fields = Object.entries(rest).map(
    ([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
  return `${seconds(at).padStart(9)}  ${kind.padEnd(16)} ${fields.join(' ')}`;
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
