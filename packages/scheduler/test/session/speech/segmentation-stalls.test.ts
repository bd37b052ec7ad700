/** A stalled process reads nothing, which is not silence: audio from the stall still belongs to the open utterance. */
import { expect, it } from 'vitest';
import { createSession } from '../../../src/session/session.ts';
import { excludeStall, nextChangeAt, SILENT, segment } from '../../../src/session/speech/segmentation.ts';
import { stepSession } from '../../../src/session/step.ts';
import type { StepTools } from '../../../src/session/step-context.ts';
import { opening, SETTINGS } from '../support/session-rig.ts';

const settings = SETTINGS.segmentation;
const chunk = (seq: number, text: string, isFinal = false) =>
  ({ kind: 'chunk', seq, audio: Buffer.from(text), isFinal }) as const;
const begun = segment(SILENT, chunk(1, 'hel'), 0, settings, false).state;
const due = nextChangeAt(begun, settings) ?? 0;

it('an utterance whose end was due during a stall continues', () => {
  const woken = 60_000;
  const state = excludeStall(begun, woken, settings);
  const { sealed, state: after } = segment(state, chunk(2, 'lo'), woken, settings, false);
  expect(sealed).toEqual([]);
  expect(after.segment).toMatchObject({ bytes: 5, firstSeq: 1, lastSeq: 2 });
});

it('an utterance ends soon after a stall without new audio', () => {
  const woken = 60_000;
  const state = excludeStall(begun, woken, settings);
  const next = nextChangeAt(state, settings) ?? 0;
  expect(next).toBeGreaterThan(woken);
  expect(next).toBeLessThanOrEqual(woken + 250);
  expect(excludeStall(state, next, settings)).toBe(state);
  expect(segment(state, { kind: 'time_passed' }, next + 10_000, settings, false).sealed).toHaveLength(1);
});

it('a slightly late timer is no stall', () => {
  expect(excludeStall(begun, due, settings)).toBe(begun);
  expect(excludeStall(begun, due + 250, settings)).toBe(begun);
  expect(excludeStall(SILENT, due, settings)).toBe(SILENT);
});

it('a stall is excluded for every kind of first event', () => {
  const given = { at: 0, firstIndex: 0, resumeDigest: undefined, isShared: false };
  const session = {
    ...createSession('s', opening(), given),
    segmentation: begun,
    phase: 'draining' as const,
  };
  stepSession(session, { kind: 'heartbeat' }, 60_000, { settings: SETTINGS } as unknown as StepTools);
  expect(nextChangeAt(session.segmentation, settings)).toBeGreaterThan(60_000);
});
