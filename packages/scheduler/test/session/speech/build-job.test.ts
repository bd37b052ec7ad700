import { describe, expect, it } from 'vitest';
import { createRequirements } from '../../../src/domain/requirements.ts';
import { NO_WORK } from '../../../src/session/outcomes/delivery.ts';
import { createSession, type Utterance } from '../../../src/session/session.ts';
import { buildRequest, cutOf, type JobInput, WHOLE_PIPELINE } from '../../../src/session/speech/build-job.ts';
import { SEAL_REASONS } from '../../../src/session/speech/segmentation.ts';
import { languages, opening, speech } from '../support/session-rig.ts';

const session = createSession('s-1', opening({ tenantId: 'acme' }), {
  at: 0,
  firstIndex: 0,
  resumeDigest: undefined,
  isShared: false,
});

const UTTERANCE: Utterance = {
  index: 7,
  jobId: 'job-1',
  traceId: 'trace-1',
  requestId: 'r1',
  groupId: 'g1',
  partIndex: 2,
  firstSeq: 3,
  lastSeq: 4,
  startedAt: 0,
  acceptedAt: 0,
  audioBytes: 4,
  acceptance: 'received',
  watch: 'watched',
  savedJobId: undefined,
  isMissingSaved: false,
  isAudioElsewhere: false,
  wasSettledBefore: false,
  isPlaced: false,
  nodeId: undefined,
  sentUiEvents: 0,
  isSettled: false,
  outcome: undefined,
  readyAt: 0,
  work: NO_WORK,
};

const ORDER: JobInput = {
  speech: speech(),
  pipeline: WHOLE_PIPELINE,
  source: { kind: 'held', bytes: 4 },
  audio: Buffer.from('abcd'),
  cut: 'manual',
  paddingMs: 280,
  turnId: 't1',
  contextText: undefined,
  binding: undefined,
  poolId: undefined,
  waitMs: 10_000,
};

const require = createRequirements({ asr: 'node-inference' });
const order = (overrides: Partial<JobInput> = {}) =>
  buildRequest(session, UTTERANCE, { ...ORDER, ...overrides }, require);

describe('the job request of an utterance', () => {
  it('a request needs the core services of its stages and features', () => {
    const features = { voice_style_detection: true, emotion_detection: false };
    expect(order({ speech: speech({ features }) }).need).toMatchObject({
      services: ['node-inference'],
      features: ['speaker_identification', 'voice_style_detection'],
    });
    expect(order().need.features).toBeUndefined();
    const silent = { ...WHOLE_PIPELINE, use_asr: false };
    expect(order({ pipeline: silent }).need.services).toEqual([]);
  });

  it('a request names tenant, session, job id and wait limit', () => {
    expect(order()).toMatchObject({ tenantId: 'acme', sessionId: 's-1', jobId: 'job-1', waitMs: 10_000 });
  });

  it('a request contains the utterance and its cut reason', () => {
    expect(order({ contextText: 'before' }).spec).toMatchObject({
      utteranceIndex: 7,
      traceId: 'trace-1',
      groupId: 'g1',
      partIndex: 2,
      cut: 'manual',
      paddingMs: 280,
      turnId: 't1',
      contextText: 'before',
      audio: { kind: 'held', bytes: 4 },
    });
  });

  it('a request contains audio only if this instance has it', () => {
    expect(order().audio?.toString()).toBe('abcd');
    const byReference = order({ audio: undefined, source: { kind: 'reference', url: 'blob://x' } });
    expect(byReference).not.toHaveProperty('audio');
    expect(byReference.need.isAudioByReference).toBe(true);
  });

  it('a request is bound only with a request id', () => {
    expect(order()).not.toHaveProperty('requestId');
    const bound = order({ binding: { requestId: 'r1:3', fingerprint: 'f' } });
    expect(bound).toMatchObject({ requestId: 'r1:3', fingerprint: 'f' });
  });

  it('a request of a two-way session needs both directions', () => {
    const twoWay = speech({
      mode: 'two_way_auto',
      languages: languages({
        src_lang: 'auto',
        tgt_lang: 'en',
        mode: 'two_way_auto',
        lang_a: 'zh',
        lang_b: 'en',
      }),
    });
    const { need, spec } = order({ speech: twoWay });
    expect(need.directions).toEqual([
      { source: 'zh', target: 'en' },
      { source: 'en', target: 'zh' },
    ]);
    expect(need).toMatchObject({ isSourceAuto: true, isPairUnknown: false });
    expect(spec).toMatchObject({ mode: 'two_way_auto', languageA: 'zh', languageB: 'en' });
  });

  it('a request needs the services of its pipeline and names existing pools', () => {
    const { need } = order({
      pipeline: { ...WHOLE_PIPELINE, use_tts: false, use_tone: true },
      poolId: 3,
    });
    expect(need).toMatchObject({ usesAsr: true, usesTts: false, types: ['tone'], preferredPoolId: 3 });
    expect(order().need).not.toHaveProperty('preferredPoolId');
  });

  it('a request omits absent fields', () => {
    const { spec } = order({ paddingMs: undefined, turnId: undefined });
    expect(Object.values(spec)).not.toContain(undefined);
  });

  it('every seal reason has a cut reason for nodes', () => {
    const cuts = Object.fromEntries(SEAL_REASONS.map((reason) => [reason, cutOf(reason)]));
    expect(cuts).toEqual({
      final: 'manual',
      pause: 'pause',
      max_duration: 'max_duration',
      max_bytes: 'max_duration',
      close: 'manual',
      next: 'manual',
      limit: 'max_duration',
    });
  });
});
