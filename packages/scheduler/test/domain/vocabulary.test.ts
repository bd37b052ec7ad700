/** The domain tables are consistent: job states, node health, languages, failures, errors. */
import { describe, expect, it } from 'vitest';
import { ERRORS } from '../../src/domain/errors.ts';
import { meaningOf } from '../../src/domain/failure.ts';
import { asOutsideId, isOutsideId } from '../../src/domain/ids.ts';
import { isSettled, JOB_EVENTS, JOB_NEXT, JOB_STATES, nextState } from '../../src/domain/job.ts';
import { foldLanguage, foldLanguages } from '../../src/domain/language.ts';
import { leaseId, leaseJob } from '../../src/domain/lease.ts';
import { NODE_EVENTS, NODE_HEALTHS, nextHealth } from '../../src/domain/node.ts';

describe('job states', () => {
  it('FINISHED follows only RUNNING, FAILED every state without outcome', () => {
    for (const state of JOB_STATES) {
      expect(nextState(state, 'finished')).toBe(state === 'RUNNING' ? 'FINISHED' : undefined);
      expect(nextState(state, 'failed')).toBe(isSettled(state) ? undefined : 'FAILED');
    }
  });

  it('an outcome is followed only by RELEASED', () => {
    for (const state of ['FINISHED', 'FAILED'] as const)
      expect(Object.keys(JOB_NEXT[state])).toEqual(['released']);
    expect(JOB_NEXT.RELEASED).toEqual({});
  });

  it('every state reaches RELEASED', () => {
    for (const start of JOB_STATES) {
      const seen = new Set([start]);
      for (const state of seen) {
        for (const event of JOB_EVENTS) {
          const next = nextState(state, event);
          if (next !== undefined) seen.add(next);
        }
      }
      expect(seen).toContain('RELEASED');
    }
  });
});

describe('node health', () => {
  it('every state becomes offline, and only registering returns', () => {
    for (const health of NODE_HEALTHS) expect(nextHealth(health, 'expired')).toBe('offline');
    for (const event of NODE_EVENTS) {
      expect(nextHealth('offline', event)).toBe(event === 'registered' ? 'registering' : 'offline');
    }
  });

  it('only healthy heartbeats make a node ready', () => {
    for (const health of NODE_HEALTHS) {
      for (const event of NODE_EVENTS) {
        const isNews = nextHealth(health, event) === 'ready' && health !== 'ready';
        if (isNews) expect(event).toBe('proved');
      }
    }
  });
});

describe('languages', () => {
  it.each([
    ['zh-CN', 'zh'],
    ['zh-tw', 'zh'],
    ['ZH-Hans', 'zh'],
    ['zh_hant', 'zh'],
    ['pt-BR', 'pt'],
    ['en-GB', 'en'],
    ['in', 'id'],
    ['iw', 'he'],
    [' EN ', 'en'],
    ['fr-CA', 'fr-ca'],
    ['auto', 'auto'],
  ])('folds %s to %s', (tag, folded) => {
    expect(foldLanguage(tag)).toBe(folded);
  });

  it('lists are folded in order, without duplicates and auto', () => {
    expect(foldLanguages(['zh-TW', 'en', 'auto', 'zh', '', 'EN-us'])).toEqual(['en', 'zh']);
  });
});

describe('failures', () => {
  it.each([
    ['PROCESSING_ERROR', 'GPU lease timeout', { isRetryable: true, isCounted: true, blamesNode: true }],
    [
      'AUDIO_LOST',
      'the audio could not be fetched',
      { isRetryable: true, isCounted: true, blamesNode: true },
    ],
    ['MODEL_LOAD_FAILED', '', { isRetryable: true, isCounted: true, blamesNode: true }],
    ['NODE_OVERLOADED', 'busy', { isRetryable: true, isCounted: false, blamesNode: false }],
    ['PROCESSING_ERROR', 'DUPLICATE_JOB_ID: j', { isRetryable: true, isCounted: false, blamesNode: false }],
    ['DUPLICATE_UTTERANCE_INDEX', '', { isRetryable: true, isCounted: false, blamesNode: false }],
    ['PROCESSING_ERROR', 'Opus decoding failed', { isRetryable: false, isCounted: false, blamesNode: false }],
    [
      'PROCESSING_ERROR',
      'Unsupported audio format: flac',
      { isRetryable: false, isCounted: false, blamesNode: false },
    ],
    ['PROCESSING_ERROR', 'SEM_REPAIR_TIMEOUT', { isRetryable: true, isCounted: true, blamesNode: true }],
  ])('%s "%s" has the documented effect', (code, message, meaning) => {
    expect(meaningOf({ code, message })).toEqual(meaning);
  });

  it('MODEL_NOT_AVAILABLE counts against the node only without a model name', () => {
    const blames = (details?: Record<string, unknown>) =>
      meaningOf({ code: 'MODEL_NOT_AVAILABLE', message: 'x', ...(details && { details }) });
    const retried = { isRetryable: true, isCounted: true };
    for (const named of [{ service_id: 'm2m' }, { model_id: ' m2m ' }])
      expect(blames(named)).toEqual({ ...retried, blamesNode: false });
    for (const nameless of [
      undefined,
      {},
      { service_id: 7 },
      { service_id: 'a\nb' },
      { model_id: 'x'.repeat(129) },
    ])
      expect(blames(nameless)).toEqual({ ...retried, blamesNode: true });
  });
});

describe('leases and errors', () => {
  it('a lease names its job, for any job id', () => {
    expect(leaseJob(leaseId('job-a:b:c', 12))).toBe('job-a:b:c');
  });

  it('every error has a fitting status and a hint that is a sentence', () => {
    for (const [code, { status, hint }] of Object.entries(ERRORS)) {
      expect(status, code).toBeGreaterThanOrEqual(400);
      expect(status, code).toBeLessThan(600);
      expect(hint, code).toMatch(/\S\.$/);
    }
  });
});

describe('instance names', () => {
  it('machine names become valid ids with room for a suffix', () => {
    expect(['büro_pc.local', 'x'.repeat(300), ''].map(asOutsideId)).toEqual([
      'b-ro_pc.local',
      'x'.repeat(100),
      '-',
    ]);
    for (const name of ['büro', '', 'ok-1']) expect(isOutsideId(asOutsideId(name))).toBe(true);
  });
});
