/** From values to positions on a chart, and the values with a mark. Pure. */

export type Scale = 'log' | 'linear';

export interface Axis {
  readonly label: string;
  readonly scale: Scale;
  readonly min: number;
  readonly max: number;
  readonly ticks: readonly number[];
  /** 0 at `min`, 1 at `max`. */
  place(value: number): number;
}

const MOST_TICKS = 6;

/** `ticks`: these and no others. */
export function createAxis(
  label: string,
  scale: Scale,
  values: readonly number[],
  ticks?: readonly number[],
): Axis {
  const known = values.filter((value) => Number.isFinite(value) && (scale === 'linear' || value > 0));
  let [low, high] = known.length === 0 ? [1, 10] : [Math.min(...known), Math.max(...known)];
  // A single value among its own marks is in the middle.
  if (low === high && ticks !== undefined) [low, high] = [low * 0.5, high * 1.5];
  return scale === 'log' ? logAxis(label, low, high, ticks) : linearAxis(label, low, high, ticks);
}

function logAxis(label: string, low: number, high: number, given?: readonly number[]): Axis {
  const [first, last] = [low / 1.15, high * 1.15];
  const place = (value: number): number => Math.log(value / first) / Math.log(last / first);
  return { label, scale: 'log', min: first, max: last, ticks: given ?? logTicks(first, last), place };
}

/** From many marks in each power of ten to one. */
const STEPS = [[1, 1.5, 2, 3, 4, 5, 6, 7, 8, 9], [1, 2, 3, 5, 7], [1, 2, 5], [1, 3], [1]];

/** As many as there is room for; in a short range, evenly spaced ones. */
function logTicks(min: number, max: number): readonly number[] {
  const [from, to] = [Math.floor(Math.log10(min)), Math.ceil(Math.log10(max))];
  const all = STEPS.map((steps) =>
    Array.from({ length: to - from + 1 }, (_, index) => index + from)
      .flatMap((power) => steps.map((step) => step * 10 ** power))
      .filter((tick) => tick >= min && tick <= max),
  );
  const ticks = all.find(({ length }) => length <= MOST_TICKS + 1) ?? all[all.length - 1] ?? [];
  if (ticks.length < 3) return evenTicks(min, max);
  const every = Math.ceil(ticks.length / (MOST_TICKS + 1));
  return ticks.filter((_, index) => index % every === 0);
}

function evenTicks(min: number, max: number): readonly number[] {
  const step = niceStep((max - min) / (MOST_TICKS - 1));
  const count = Math.floor(max / step) - Math.ceil(min / step) + 1;
  return Array.from({ length: count }, (_, index) => (Math.ceil(min / step) + index) * step);
}

function linearAxis(label: string, low: number, high: number, given?: readonly number[]): Axis {
  // Amounts begin at 0; counts, which have their own marks, at the first.
  const min = given === undefined ? Math.min(0, low) : low - (high - low) * 0.06;
  const max = given === undefined ? (high <= min ? min + 1 : high * 1.08) : high + (high - low) * 0.06;
  const ticks = given ?? evenTicks(min, max);
  return { label, scale: 'linear', min, max, ticks, place: (value) => (value - min) / (max - min) };
}

function niceStep(rough: number): number {
  const power = 10 ** Math.floor(Math.log10(rough));
  return power * ([1, 2, 2.5, 5, 10].find((step) => step * power >= rough) ?? 10);
}

/** Short enough for a mark: 20, 1.5k, 100k. */
export function tickText(value: number): string {
  if (value === 0) return '0';
  const size = Math.abs(value);
  if (size >= 1e6) return `${Number((value / 1e6).toPrecision(3))}M`;
  if (size >= 1e3) return `${Number((value / 1e3).toPrecision(3))}k`;
  return String(Number(value.toPrecision(3)));
}
