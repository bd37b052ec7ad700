/**
 * Hot path of waiting jobs: how fast they are served, by need and class, so that a job that would wait too long is refused at once. Pure but for
 * its own memory; the time is an argument.
 *
 * Only time in which jobs of the kind waited counts: a quiet hour says nothing about how fast they would be served.
 */
import { createBoundedMap } from '../../domain/bounded-map.ts';
import type { WaitingClass } from '../../domain/tenancy.ts';

export interface ServiceRates {
  joined(shape: unknown, of: WaitingClass, now: number): void;
  left(shape: unknown, of: WaitingClass, isServed: boolean, now: number): void;
  /** How long a job waits behind `ahead` others. Undefined: not known. */
  expectedWaitMs(shape: unknown, of: WaitingClass, ahead: number, now: number): number | undefined;
}

interface Line {
  waiting: number;
  /** Both fade: about the last ten seconds of waiting count. */
  busyMs: number;
  served: number;
  /** Jobs of other classes that were served while this one waited: the nodes work, but not for this class. */
  servedOthers: number;
  seenAt: number;
}

/** Kinds of needs that are told apart; beyond them the kind that began to wait longest ago is forgotten. */
const MOST_SHAPES = 256;
const FADE_MS = 10_000;
/** Less time says nothing. */
const LEAST_BUSY_MS = 1_000;
/** Fewer jobs say nothing: perhaps all nodes are just reconnecting. */
const LEAST_SERVED = 5;
/** After this long without waiting jobs the fleet may be another one. */
const FORGET_MS = 30_000;
/** So many more jobs than were served: few could be chance. */
const DOUBT = 1;

export function createServiceRates(): ServiceRates {
  const shapes = createBoundedMap<unknown, Map<WaitingClass, Line>>({ max: MOST_SHAPES });

  /** As it is now. */
  function advance(line: Line, now: number): void {
    const passedMs = now - line.seenAt;
    line.seenAt = now;
    if (line.waiting > 0) {
      const kept = Math.exp(-passedMs / FADE_MS);
      line.busyMs = line.busyMs * kept + FADE_MS * (1 - kept);
      line.served *= kept;
      line.servedOthers *= kept;
    } else if (passedMs > FORGET_MS) {
      line.busyMs = 0;
      line.served = 0;
      line.servedOthers = 0;
    }
  }

  function lineOf(shape: unknown, of: WaitingClass, now: number): Line {
    const lines = shapes.get(shape) ?? new Map<WaitingClass, Line>();
    if (!shapes.has(shape)) shapes.set(shape, lines);
    const known = lines.get(of);
    if (known !== undefined) return known;
    const line = { waiting: 0, busyMs: 0, served: 0, servedOthers: 0, seenAt: now };
    lines.set(of, line);
    return line;
  }

  return {
    joined(shape, of, now) {
      const line = lineOf(shape, of, now);
      advance(line, now);
      line.waiting += 1;
    },

    left(shape, of, isServed, now) {
      const lines = shapes.get(shape);
      for (const [each, line] of lines ?? []) {
        advance(line, now);
        if (isServed && each === of) line.served += 1;
        else if (isServed && line.waiting > 0) line.servedOthers += 1;
      }
      const line = lines?.get(of);
      // The kind may have been forgotten meanwhile.
      if (line !== undefined && line.waiting > 0) line.waiting -= 1;
    },

    expectedWaitMs(shape, of, ahead, now) {
      const line = shapes.get(shape)?.get(of);
      if (line === undefined) return undefined;
      advance(line, now);
      const { busyMs, served, servedOthers } = line;
      if (busyMs < LEAST_BUSY_MS || served + servedOthers < LEAST_SERVED) return undefined;
      return ((ahead + 1) * busyMs) / (served + DOUBT);
    },
  };
}
