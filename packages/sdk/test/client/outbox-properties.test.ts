/** The outbox against a model of the scheduler: nothing is lost, repeated or sent needlessly, in any order of events. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createOutbox, type Outbox } from '../../src/client/outbox.ts';
import type { Frame } from '../../src/client/outbox-entry.ts';
import { createModelScheduler, type ModelScheduler, token, tokensOf } from './support/model-scheduler.ts';

const LIMITS = { maxKeptBytes: 1_000_000, maxJoinedBytes: 6, maxUtterancesInFlight: 1_000 };
const RUNS = { numRuns: 500 };
const LOSSES = ['resume', 'restart', 'move'] as const;

const weighted = <const Name extends string>(weight: number, name: Name) => ({
  weight,
  arbitrary: fc.constant(name),
});
/** Long enough for several losses each; the default size would give a dozen steps. */
const steps = (losses: readonly (typeof LOSSES)[number][]) =>
  fc.array(
    fc.oneof(
      weighted(6, 'say'),
      weighted(2, 'end'),
      weighted(1, 'whole'),
      weighted(7, 'take'),
      weighted(7, 'read'),
      weighted(1, 'cut'),
      weighted(3, 'answer'),
      weighted(6, 'hear'),
      ...losses.map((name) => weighted(1, name)),
    ),
    { maxLength: 150, size: 'max' },
  );
type Step = ReturnType<typeof steps> extends fc.Arbitrary<(infer Each)[]> ? Each : never;

interface World {
  readonly outbox: Outbox;
  readonly scheduler: ModelScheduler;
  /** Tokens sent as chunks, and those sent as whole utterances. */
  readonly said: number[];
  readonly whole: number[];
  act(step: Step): void;
}

/** Distinct ids. */
function createNumbers(): () => number {
  let last = 0;
  return () => {
    last += 1;
    return last;
  };
}

function createWorld(repeatsAcceptances: boolean): World {
  const nextRequest = createNumbers();
  const nextToken = createNumbers();
  const said: number[] = [];
  const whole: number[] = [];
  const outbox = createOutbox(LIMITS, () => `req-${nextRequest()}`);
  const scheduler = createModelScheduler(outbox, { repeatsAcceptances });
  scheduler.reconnect(false);
  const give = (list: number[]): Uint8Array => {
    const id = nextToken();
    list.push(id);
    return token(id);
  };
  return {
    outbox,
    scheduler,
    said,
    whole,
    act(each) {
      if (each === 'say') outbox.addChunk(give(said));
      else if (each === 'end') outbox.endUtterance();
      else if (each === 'whole') outbox.addUtterance(`whole-${nextRequest()}`, give(whole), {});
      else if (each === 'resume') scheduler.reconnect(true);
      else if (each === 'restart') scheduler.reconnect(false);
      else if (each === 'move') scheduler.reconnect(true, true);
      else scheduler[each]();
    },
  };
}

const sorted = (numbers: readonly number[]): number[] => [...numbers].sort((a, b) => a - b);

describe('outbox with a model scheduler', () => {
  it('each piece of audio has exactly one outcome, in order', () => {
    fc.assert(
      fc.property(steps(LOSSES), (all) => {
        const { outbox, scheduler, said, whole, act } = createWorld(true);
        for (const each of all) {
          act(each);
          expect(outbox.audioBytes()).toBe(2 * (said.length + whole.length - scheduler.heard.length));
        }
        scheduler.drain();
        expect(scheduler.complaints).toEqual([]);
        expect(scheduler.heard.filter((each) => !whole.includes(each))).toEqual(said);
        expect(sorted(scheduler.heard)).toEqual(sorted([...said, ...whole]));
        expect([outbox.isEmpty(), outbox.keptBytes()]).toEqual([true, 0]);
      }),
      RUNS,
    );
  });

  it('lost acceptances that are never repeated do not block the outbox', () => {
    fc.assert(
      fc.property(steps(['resume']), (all) => {
        const { outbox, scheduler, said, whole, act } = createWorld(false);
        for (const each of all) act(each);
        scheduler.drain();
        // Unreported audio is known to be done when later audio is.
        for (const each of ['say', 'end'] as const) act(each);
        scheduler.drain();
        // The client cannot know that a received outcome belongs to resent audio; the scheduler ignores the repeat.
        expect(scheduler.complaints.filter((each) => !each.endsWith('after its outcome'))).toEqual([]);
        expect(sorted(scheduler.heard)).toEqual(sorted([...said, ...whole]));
        expect(outbox.isEmpty()).toBe(true);
      }),
      RUNS,
    );
  });

  it('waiting chunks are joined unchanged, and never across an utterance end', () => {
    const part = fc.record({ ends: fc.boolean(), takes: fc.boolean() });
    fc.assert(
      fc.property(fc.array(part, { maxLength: 60, size: 'max' }), (parts) => {
        const nextRequest = createNumbers();
        const outbox = createOutbox(LIMITS, () => String(nextRequest()));
        const requestOf = new Map<number, string>();
        const frames: (Frame | undefined)[] = [];
        let ended = 0;
        for (const [at, { ends, takes }] of parts.entries()) {
          outbox.addChunk(token(at));
          requestOf.set(at, String(ended + 1));
          if (ends && outbox.endUtterance() !== undefined) ended += 1;
          if (takes) frames.push(outbox.take(0));
        }
        while (outbox.hasFrames()) frames.push(outbox.take(0));
        const sent = frames.filter((frame) => frame !== undefined);
        expect(sent.flatMap(({ bytes }) => tokensOf(bytes))).toEqual(parts.map((_, at) => at));
        for (const { bytes, requestId } of sent) {
          expect(bytes.length).toBeLessThanOrEqual(LIMITS.maxJoinedBytes);
          for (const each of tokensOf(bytes)) expect(requestOf.get(each)).toBe(requestId);
        }
      }),
    );
  });
});
