import { JobAssign, parseSchedulerToNode } from '@lingua/protocol';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { CutReason, JobSpec } from '../../../src/domain/job-spec.ts';
import { type AssignInput, assignMessage } from '../../../src/transport/link/assign-message.ts';
import { DEADLINE_AT, job, wav } from './jobs.ts';

const DEPLOYED = { isLegacy: true, supports: [] } as const;
const MODERN = { isLegacy: false, supports: ['job_ack', 'audio_ref'] } as const;
const PLAIN = { isLegacy: false, supports: [] } as const;
const AUDIO = Buffer.from('audio');
const inline = () => undefined;
const byReference = ({ length }: Buffer) => ({ url: 'http://here/1', token: 'token-1', bytes: length });

function assign(
  spec: Partial<JobSpec>,
  profile: AssignInput['profile'],
  audio: Buffer | undefined = AUDIO,
  refer: AssignInput['refer'] = inline,
) {
  const made = assignMessage({ job: job(spec), attempt: 2, profile, audio, refer });
  return made.kind === 'assign' ? made.message : made.reason;
}

const CUTS: readonly CutReason[] = ['manual', 'pause', 'timeout', 'max_duration'];

describe('assignment for a legacy node', () => {
  it('a legacy node gets only fields that it understands', () => {
    expect(assign({ turnId: 'turn-1', cut: 'pause' }, DEPLOYED)).toEqual({
      type: 'job_assign',
      job_id: 'job-1',
      attempt_id: 2,
      session_id: 's-1',
      utterance_index: 3,
      src_lang: 'zh',
      tgt_lang: 'en',
      pipeline: { use_asr: true, use_nmt: true, use_tts: true, use_semantic: false, use_tone: false },
      audio: AUDIO.toString('base64'),
      audio_format: 'opus',
      sample_rate: 16_000,
      trace_id: 'trace-1',
      is_manual_cut: true,
    });
  });

  it('a legacy node gets each language of a plan as a session of its own, and no chain', () => {
    const stages = ['asr', 'semantic', 'nmt'] as const;
    const message = assign({ stages, targetLanguage: 'fr' }, DEPLOYED);
    expect(message).toMatchObject({ session_id: 's-1:fr', tgt_lang: 'fr' });
    expect(message).not.toHaveProperty('stages');
    expect(assign({ stages }, MODERN)).toMatchObject({ session_id: 's-1', stages: [...stages] });
  });

  it('a legacy node gets manual cuts and inline audio, without extensions', () => {
    const extensions = Object.entries(JobAssign.properties)
      .filter(([, field]) => (field as { extension?: boolean }).extension === true)
      .map(([name]) => name);
    expect(extensions).toEqual(expect.arrayContaining(['audio_ref', 'deadline_ms']));
    fc.assert(
      fc.property(anySpec, fc.uint8Array({ maxLength: 20 }), (spec, bytes) => {
        const audio = Buffer.from(bytes);
        const message = assign(spec, DEPLOYED, audio, byReference);
        if (typeof message === 'string') return;
        expect(message.is_manual_cut).toBe(true);
        expect(message.audio.length).toBeGreaterThan(0);
        expect(message.audio_format).not.toBe('wav');
        const forbidden = [
          'is_pause_triggered',
          'is_timeout_triggered',
          'is_max_duration_triggered',
          'turn_id',
        ];
        for (const field of [...forbidden, ...extensions]) expect(message).not.toHaveProperty(field);
      }),
    );
  });

  it('wav is unwrapped to samples with the rate of the file', () => {
    const samples = Buffer.from([1, 0, 2, 0]);
    expect(assign({ audioFormat: 'wav' }, DEPLOYED, wav(samples, 48_000))).toMatchObject({
      audio: samples.toString('base64'),
      audio_format: 'pcm16',
      sample_rate: 48_000,
    });
  });

  it.each([
    ['audio_lost', {}, undefined],
    ['audio_missing', {}, Buffer.alloc(0)],
    ['audio_missing', { audio: { kind: 'none' } }, undefined],
    ['audio_format_unsupported', { audioFormat: 'wav' }, wav(Buffer.alloc(0))],
    ['audio_ref_unsupported', { audio: { kind: 'reference', url: 'blob://x' } }, undefined],
    ['audio_format_unsupported', { audioFormat: 'wav' }, Buffer.from('no wav file')],
  ] as const)('a legacy node cannot take a job: %s', (reason, spec, audio) => {
    const made = assignMessage({ job: job(spec), attempt: 1, profile: DEPLOYED, audio, refer: inline });
    expect(made).toEqual({ kind: 'unfit', reason });
  });
});

describe('assignment for a node with extensions', () => {
  it.each([
    ['manual', 'is_manual_cut'],
    ['pause', 'is_pause_triggered'],
    ['timeout', 'is_timeout_triggered'],
    ['max_duration', 'is_max_duration_triggered'],
  ] as const)('a cut by %s sets only %s', (cut, flag) => {
    const message = assign({ cut }, MODERN);
    const flags = Object.keys(message).filter((field) => field.startsWith('is_'));
    expect(flags).toEqual([flag]);
  });

  it('turn id and deadline in epoch milliseconds are sent', () => {
    expect(assign({ turnId: 'turn-1' }, MODERN)).toMatchObject({
      turn_id: 'turn-1',
      deadline_ms: DEADLINE_AT,
    });
  });

  it('external audio is sent as a reference', () => {
    expect(assign({ audio: { kind: 'reference', url: 'blob://x' } }, MODERN)).toMatchObject({
      audio: '',
      audio_ref: { url: 'blob://x' },
    });
  });

  it('held audio is referenced with its token, size and format', () => {
    expect(assign({ audioFormat: 'opus' }, MODERN, AUDIO, byReference)).toMatchObject({
      audio: '',
      audio_ref: { url: 'http://here/1', token: 'token-1', bytes: AUDIO.length },
      audio_format: 'opus',
      sample_rate: 16_000,
    });
  });

  it('a node that does not fetch gets held audio inline', () => {
    const message = assign({}, PLAIN, AUDIO, byReference);
    expect(message).toMatchObject({ audio: AUDIO.toString('base64') });
    expect(message).not.toHaveProperty('audio_ref');
  });

  it('audio without a reference is sent inline in its own format', () => {
    const file = wav(Buffer.from([1, 0]));
    const message = assign({ audioFormat: 'wav' }, MODERN, file);
    expect(message).toMatchObject({ audio: file.toString('base64'), audio_format: 'wav' });
    expect(message).not.toHaveProperty('audio_ref');
  });

  it('a job may have no audio', () => {
    expect(assign({ audio: { kind: 'none' } }, MODERN)).toMatchObject({ audio: '' });
  });

  it('lost audio, or a reference the node cannot fetch, makes the job unfit', () => {
    expect(
      assignMessage({ job: job(), attempt: 1, profile: MODERN, audio: undefined, refer: inline }),
    ).toEqual({
      kind: 'unfit',
      reason: 'audio_lost',
    });
    expect(assign({ audio: { kind: 'reference', url: 'blob://x' } }, PLAIN)).toBe('audio_ref_unsupported');
  });
});

it('every assignment is a valid protocol message without undefined fields', () => {
  fc.assert(
    fc.property(anySpec, fc.constantFrom(DEPLOYED, MODERN, PLAIN), fc.boolean(), (spec, profile, refers) => {
      const message = assign(spec, profile, AUDIO, refers ? byReference : inline);
      if (typeof message === 'string') return;
      expect(Object.values(message)).not.toContain(undefined);
      expect(parseSchedulerToNode(JSON.stringify(message))).toEqual({ kind: 'message', message });
    }),
  );
});

const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });

const anySpec: fc.Arbitrary<Partial<JobSpec>> = fc
  .record({
    audio: fc.constantFrom<JobSpec['audio']>(
      { kind: 'held', bytes: 1 },
      { kind: 'reference', url: 'blob://x' },
      { kind: 'none' },
    ),
    audioFormat: fc.constantFrom('opus', 'pcm16', 'wav'),
    cut: fc.constantFrom(...CUTS),
    turnId: maybe(fc.constant('turn-1')),
    dialect: maybe(fc.string({ maxLength: 5 })),
    features: maybe(fc.record({ emotion_detection: fc.boolean() })),
    mode: maybe(fc.constantFrom('one_way', 'two_way_auto')),
    languageA: maybe(fc.constant('zh')),
    languageB: maybe(fc.constant('en')),
    autoLanguages: maybe(fc.constant(['zh', 'en'])),
    enableStreamingAsr: maybe(fc.boolean()),
    partialUpdateIntervalMs: maybe(fc.nat(1_000)),
    groupId: maybe(fc.constant('group-1')),
    partIndex: maybe(fc.nat(9)),
    contextText: maybe(fc.string()),
    paddingMs: maybe(fc.nat(500)),
  })
  .map(
    (spec) =>
      Object.fromEntries(Object.entries(spec).filter(([, value]) => value !== undefined)) as Partial<JobSpec>,
  );
