/** A job's record is read from Redis unchanged, whatever it contains. */
import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createRecordFields } from '../../../../src/adapters/redis/job-store/record-fields.ts';
import { createSealedPayload } from '../../../../src/adapters/redis/sealed-payload.ts';
import { JOB_STATES, type JobRecord } from '../../../../src/domain/job.ts';
import { changeJob, type JobChange, MAX_TIMELINE } from '../../../../src/domain/job-change.ts';
import { fitResult } from '../../../../src/domain/job-spec.ts';
import { changeTo, draftJob, draftRequest, expectedOf, RESULT } from '../../../contracts/job-draft.ts';
import { type Connected, connectTo, freshKeys, openInstance } from '../../../support/redis-jobs.ts';
import { startRedis } from '../../../support/redis-servers.ts';

/** Anything a text may be, half a surrogate pair included. */
const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom('', '0', 'null', '\ud800', '🗣️ 中文 \u0000 "\\\n'),
);
const attempt = fc.record({ nodeId: text, attempt: fc.nat(1_000) });
const liveState = fc.constantFrom('CREATED', 'RESERVED', 'DISPATCHED', 'RUNNING', 'RETRYING' as const);
const count = fc.nat(Number.MAX_SAFE_INTEGER);

const entry = fc.record(
  { state: fc.constantFrom(...JOB_STATES), at: count, attempt: fc.nat(99), nodeId: text, reason: text },
  { requiredKeys: ['state', 'at', 'attempt'] },
);
/** Absent and undefined mean the same. */
const orNot = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });

/** What a node may add. -0 is 0 in every JSON that is written. */
const additions = fc
  .dictionary(text, fc.jsonValue())
  .map((some) => JSON.parse(JSON.stringify(some)) as Record<string, unknown>);

const result = fc.record(
  {
    textAsr: text,
    textTranslated: text,
    ttsAudio: fc.oneof(fc.base64String(), fc.constant('QUJD'.repeat(40_000))),
    ttsFormat: text,
    processingTimeMs: orNot(fc.double({ noNaN: true, noDefaultInfinity: true, min: 0 })),
    extra: orNot(additions),
    details: orNot(additions),
  },
  { requiredKeys: ['textAsr', 'textTranslated', 'ttsAudio', 'ttsFormat'] },
);

const parts = fc.record(
  {
    sessionId: text,
    fingerprint: orNot(text),
    state: liveState,
    fence: orNot(attempt),
    intent: orNot(attempt),
    createdAt: count,
    timeline: fc.array(entry, { minLength: 1, maxLength: MAX_TIMELINE }),
    failure: orNot(fc.record({ code: text, message: text })),
    result: orNot(result),
  },
  { requiredKeys: [] },
);

const change = fc.record(
  {
    state: liveState,
    fence: orNot(attempt),
    intent: fc.option(attempt, { nil: null }),
    passing: orNot(fc.array(entry, { maxLength: 3 })),
    failure: orNot(fc.record({ code: text, message: text })),
    result: orNot(result),
  },
  { requiredKeys: ['state'] },
);

describe('a record in Redis', () => {
  let redis: Connected;
  beforeAll(async () => {
    redis = await connectTo(startRedis());
  });
  afterAll(() => redis.close());

  it.each([
    ['plain', undefined],
    ['sealed', createSealedPayload([{ id: 'k1', secret: randomBytes(32) }])],
  ])('is stored completely in its fields: %s', (_, payload) => {
    const { fieldsOf, jobFromFields } = createRecordFields(payload);
    fc.assert(
      fc.property(parts, fc.constantFrom(...JOB_STATES), (some, state) => {
        const record = { ...draftRequest(1), ...some, state } as JobRecord;
        expect(jobFromFields(fieldsOf(record, 'a/1'))).toEqual({
          record,
          revision: record.timeline.length,
          driver: 'a/1',
          watchers: [],
        });
      }),
      { numRuns: 300 },
    );
  });

  it('is read as it was admitted, by id and by request', async () => {
    const { store } = openInstance(redis, freshKeys(), 'instance-a');
    await fc.assert(
      fc.asyncProperty(parts, text, async (some, requestId) => {
        const base = draftRequest(Date.now(), { requestId: `${requestId}${Math.random()}` });
        const draft = { ...base, ...some } as JobRecord;
        expect(await store.admit(draft)).toEqual({ kind: 'admitted', job: draft });
        expect(await store.get(draft.jobId)).toEqual(draft);
        expect(await store.bound(draft.tenantId, draft.requestId as string)).toEqual(draft);
      }),
      { numRuns: 60 },
    );
  });

  it('changes like the pure function, on every instance', async () => {
    const keys = freshKeys();
    const [mover, other] = [openInstance(redis, keys, 'a').store, openInstance(redis.other, keys, 'b').store];
    await fc.assert(
      fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 40 }), async (changes) => {
        let job: JobRecord = draftJob(Date.now());
        await mover.admit(job);
        for (const [at, { state, ...rest }] of changes.entries()) {
          const next = { ...changeTo(state), ...rest, entry: { state, at, attempt: at } } as JobChange;
          const moved = await mover.move(job.jobId, expectedOf(job), next);
          job = changeJob(job, next);
          expect(moved).toEqual({ kind: 'moved', job });
        }
        expect(await other.get(job.jobId)).toEqual(job);
      }),
      { numRuns: 25 },
    );
  });

  it('keeps speech up to the limit, and beyond it only the text', async () => {
    const { store } = openInstance(redis, freshKeys(), 'instance-a', { resultInlineMaxBytes: 1_000 });
    for (const [bytes, kept] of [
      [1_000, 1_000],
      [1_001, 0],
    ] as const) {
      const draft = draftJob(Date.now(), { state: 'RUNNING' });
      await store.admit(draft);
      const sent = { ...RESULT, ttsAudio: 'A'.repeat(bytes), extra: { service_timings: {} } };
      const moved = await store.move(draft.jobId, expectedOf(draft), changeTo('FINISHED', { result: sent }));
      const job = await store.get(draft.jobId);
      expect(moved).toEqual({ kind: 'moved', job });
      expect(job?.result).toMatchObject({
        textTranslated: RESULT.textTranslated,
        ttsFormat: RESULT.ttsFormat,
      });
      expect(job?.result?.ttsAudio).toHaveLength(kept);
      expect(job?.result?.extra).toEqual({
        service_timings: {},
        ...(kept === 0 && { tts_audio_dropped: true, tts_audio_bytes: 1_001 }),
      });
    }
  });

  it('does not change a result that fits', () => {
    const large = fitResult({ ...RESULT, ttsAudio: 'AAAA' }, 3);
    expect(fitResult(RESULT, 4)).toBe(RESULT);
    expect(fitResult(large, 3)).toBe(large);
    expect(fitResult({ ...RESULT, ttsAudio: '' }, 0).extra).toBeUndefined();
  });
});
