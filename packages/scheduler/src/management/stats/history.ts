/**
 * Cold path: the figures of all instances in the last hour, in spans of one and of ten seconds. In memory, and bounded: about 4,000 points
 * of one kilobyte, whatever the size of the fleet.
 */
import { addLevels, addTo, type FiguresPoint, noSums, pointOf, type Summary } from './summary.ts';

export const STEPS = [1, 10] as const;
export type StepSeconds = (typeof STEPS)[number];

const HOUR_SECONDS = 3_600;
/** The levels of an instance that was silent for longer are left out. */
const SILENT_MS = 5_000;
/** I11: further instances are not counted. */
const MAX_INSTANCES = 1_000;

/** An instance, as it sent its figures last. */
export interface KnownInstance extends Pick<Summary, 'levels' | 'failing'> {
  readonly instanceId: string;
  readonly at: number;
}

export interface History {
  /** An instance sent its figures of the last second. */
  add(instanceId: string, summary: Summary, at: number): void;
  /** Ends a span of one second. */
  close(at: number): FiguresPoint;
  points(step: StepSeconds, since?: number): readonly FiguresPoint[];
  latest(): FiguresPoint | undefined;
  /** Those that sent figures in the last seconds, by name. */
  instances(): readonly KnownInstance[];
}

export function createHistory(): History {
  const known = new Map<string, KnownInstance>();
  const rings = STEPS.map((step) => ({
    step,
    most: HOUR_SECONDS / step,
    points: [] as FiguresPoint[],
    sums: noSums(),
    closed: 0,
  }));

  function forgetSilent(now: number): void {
    for (const [instanceId, { at }] of known) if (now - at > SILENT_MS) known.delete(instanceId);
  }

  return {
    add(instanceId, summary, at) {
      if (!known.has(instanceId) && known.size >= MAX_INSTANCES) return;
      known.set(instanceId, { instanceId, levels: summary.levels, failing: summary.failing, at });
      for (const ring of rings) addTo(ring.sums, summary);
    },
    close(at) {
      forgetSilent(at);
      const levels = addLevels([...known.values()].map((each) => each.levels));
      for (const ring of rings) {
        ring.closed += 1;
        if (ring.closed % ring.step !== 0) continue;
        const span = { at, spanMs: ring.step * 1_000, instances: known.size };
        ring.points.push(pointOf(ring.sums, levels, span));
        ring.sums = noSums();
        if (ring.points.length > ring.most) ring.points.shift();
      }
      return rings[0]?.points.at(-1) as FiguresPoint;
    },
    points(step, since = 0) {
      const { points = [] } = rings.find((ring) => ring.step === step) ?? {};
      return points.filter(({ at }) => at > since);
    },
    latest: () => rings[0]?.points.at(-1),
    instances: () => [...known.values()].sort((a, b) => (a.instanceId < b.instanceId ? -1 : 1)),
  };
}
