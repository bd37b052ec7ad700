/**
 * Cold path: what waits to be sent as spans. Bounded; spans are made and sent a few at a time, so that no slice is long; what finds no
 * room or does not arrive is dropped and counted.
 */
import type { Cancel, Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { Meter } from '../../ports/meter.ts';
import type { SpanDraft } from './span-draft.ts';

/** Jobs and utterances, of a few spans each. */
export const QUEUE_LIMITS = {
  maxQueued: 4_096,
  /** Made and encoded in one slice. */
  maxPerBatch: 16,
  maxUnderWay: 4,
} as const;

/** How long the first of a batch waits for others. */
const GATHER_MS = 500;
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 30_000;

export type Trace = () => readonly SpanDraft[];

export interface SpanQueue {
  add(trace: Trace): void;
  /** Sends what is there, for at most so long. Nothing is taken afterwards. */
  stop(limitMs: number): Promise<void>;
}

export function createSpanQueue(deps: {
  clock: Clock;
  meter: Meter;
  log: Log;
  /** False: they did not arrive. Never rejects. */
  send: (spans: readonly SpanDraft[]) => Promise<boolean>;
}): SpanQueue {
  const { clock, meter, log, send } = deps;
  const { maxQueued, maxPerBatch, maxUnderWay } = QUEUE_LIMITS;
  let queued: Trace[] = [];
  let underWay = 0;
  let timer: Cancel | undefined;
  let failures = 0;
  let pausedUntil = 0;
  let ended: (() => void) | undefined;
  let isOver = false;

  const drop = (spans: number, reason: string): void => {
    if (spans > 0) meter.count('scheduler_trace_spans_dropped_total', { reason }, spans);
  };

  function schedule(delayMs: number): void {
    if (timer !== undefined || queued.length === 0 || underWay >= maxUnderWay) return;
    // Nobody waits for the end of a pause when everything ends.
    const pauseMs = ended === undefined ? Math.max(0, pausedUntil - clock.now()) : 0;
    timer = clock.after(Math.max(delayMs, pauseMs), () => {
      timer = undefined;
      sendSome();
    });
  }

  function unschedule(): void {
    timer?.();
    timer = undefined;
  }

  function sendSome(): void {
    if (isOver) return;
    const spans = queued.splice(0, maxPerBatch).flatMap((trace) => trace());
    if (spans.length > 0) {
      underWay += 1;
      void send(spans).then((hasArrived) => sent(spans.length, hasArrived));
    }
    // One slice after the other, with room for others in between.
    schedule(queued.length >= maxPerBatch || ended !== undefined ? 0 : GATHER_MS);
  }

  function sent(count: number, hasArrived: boolean): void {
    underWay -= 1;
    if (hasArrived) {
      meter.count('scheduler_trace_spans_exported_total', undefined, count);
      if (failures > 0) log.info({}, 'spans are accepted again');
      failures = 0;
      pausedUntil = 0;
    } else {
      drop(count, 'not_sent');
      if (failures === 0) log.warn({}, 'spans are not accepted at scheduler.observability.otlp_endpoint');
      failures += 1;
      pausedUntil =
        clock.now() + Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(failures - 1, 16));
    }
    if (queued.length === 0 && underWay === 0) ended?.();
    schedule(queued.length >= maxPerBatch || ended !== undefined ? 0 : GATHER_MS);
  }

  return {
    add(trace) {
      if (ended !== undefined || isOver || queued.length >= maxQueued) {
        return drop(trace().length, ended === undefined && !isOver ? 'queue_full' : 'stopping');
      }
      queued.push(trace);
      // Enough have come: no others are waited for.
      if (queued.length === maxPerBatch) unschedule();
      schedule(queued.length >= maxPerBatch ? 0 : GATHER_MS);
    },
    async stop(limitMs) {
      if (isOver) return;
      if (queued.length > 0 || underWay > 0) {
        await new Promise<void>((resolve) => {
          const cancel = clock.after(limitMs, resolve);
          ended = () => {
            cancel();
            resolve();
          };
          unschedule();
          schedule(0);
        });
      }
      isOver = true;
      drop(
        queued.reduce((sum, trace) => sum + trace().length, 0),
        'stopping',
      );
      queued = [];
    },
  };
}
