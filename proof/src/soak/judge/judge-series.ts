/** Whether a series grows for good: surely, by more than it may, and still at the end. Pure. */
import { medianOf, type Point, trendOf } from './trend.ts';

export type Verdict =
  /** It does not grow, or not enough to matter. */
  | 'steady'
  /** It grew, and has stopped growing. */
  | 'settles'
  | 'grows'
  /** The run was too short for a verdict. */
  | 'too_short'
  /** It says more about the machine than about the scheduler. */
  | 'shown_only';

export interface Tolerance {
  /** Growth per hour that is not called a leak, as a share of the level. */
  readonly partPerHour: number;
  /** Growth during the judged part of the run that is not called a leak, whatever the level: noise, and caches that fill. */
  readonly floor: number;
}

export interface Judgement {
  readonly verdict: Verdict;
  /** In the middle of the judged part. */
  readonly level: number;
  readonly highest: number;
  readonly perHour: number;
  /** The lower bound. */
  readonly perHourAtLeast: number;
  /** Of the second half alone. */
  readonly latePerHour: number;
  /** The smallest growth that this run would have called a leak. */
  readonly detectablePerHour: number;
}

/** Neighbouring samples are nearly the same; a few dozen medians are more reliable. */
const BLOCKS = 30;
const FEWEST_BLOCKS = 10;
/** Dozens of series are judged at once: one false alarm in a thousand of them is enough. */
const SURE = 3.1;
/** Growth of which less than this share is left in the second half has stopped. */
const STILL = 1 / 3;
const HOUR = 3_600;

/** `points`: those after the warm-up, in order. */
export function judgeSeries(points: readonly Point[], tolerance: Tolerance): Judgement {
  const blocks = blocksOf(points);
  const values = points.map(({ value }) => value).sort((one, other) => one - other);
  const level = medianOf(values);
  const highest = values[values.length - 1] ?? 0;
  const first = blocks[0];
  const last = blocks[blocks.length - 1];
  if (first === undefined || last === undefined || blocks.length < FEWEST_BLOCKS) {
    const none = { perHour: 0, perHourAtLeast: 0, latePerHour: 0, detectablePerHour: 0 };
    return { verdict: 'too_short', level, highest, ...none };
  }
  const whole = trendOf(blocks, SURE);
  const late = trendOf(blocks.slice(Math.floor(blocks.length / 2)), SURE);
  const span = last.at - first.at;
  const allowed = Math.max((tolerance.partPerHour * Math.abs(level)) / HOUR, tolerance.floor / span);
  const isGrowth = whole.perSecondAtLeast > 0 && whole.perSecond > allowed;
  const isStill = late.perSecond > Math.max(allowed * STILL, whole.perSecond * STILL);
  return {
    verdict: !isGrowth ? 'steady' : isStill ? 'grows' : 'settles',
    level,
    highest,
    perHour: whole.perSecond * HOUR,
    perHourAtLeast: whole.perSecondAtLeast * HOUR,
    latePerHour: late.perSecond * HOUR,
    detectablePerHour: allowed * HOUR,
  };
}

/** Medians of as many neighbours as it takes to have BLOCKS of them. */
function blocksOf(points: readonly Point[]): Point[] {
  const size = Math.max(1, points.length / BLOCKS);
  const count = Math.min(BLOCKS, points.length);
  return Array.from({ length: count }, (_, block) => {
    const members = points.slice(Math.floor(block * size), Math.floor((block + 1) * size));
    const middle = (pick: (point: Point) => number): number =>
      medianOf(members.map(pick).sort((one, other) => one - other));
    return { at: middle(({ at }) => at), value: middle(({ value }) => value) };
  });
}
