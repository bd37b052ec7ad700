/** What a result has used: stages, languages and amounts, read from bytes without decoding. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { opusMs, pcmMs, wavMs } from '../../../src/domain/audio-length.ts';
import type { JobResult, JobSpec } from '../../../src/domain/job-spec.ts';
import { measureAudio, measureJob } from '../../../src/runtime/usage/measure-job.ts';
import { wrapWav } from '../../../src/transport/wire/wrap-wav.ts';
import { draftJob, RESULT } from '../../contracts/job-draft.ts';

const ALL = { use_asr: true, use_semantic: true, use_nmt: true, use_tts: true, use_tone: false };
const specOf = (parts: Partial<JobSpec>): JobSpec => ({ ...draftJob(0).spec, pipeline: ALL, ...parts });
const measure = (spec: Partial<JobSpec>, result: Partial<JobResult>, audioMs?: number) =>
  measureJob(
    { spec: specOf(spec), audioMs },
    { ...RESULT, textAsr: '你好', textTranslated: 'hello', ttsAudio: '', ttsFormat: '', ...result },
    7,
  );
const base64 = (bytes: number): string => Buffer.alloc(bytes).toString('base64');

/** A packet of the protocol: its length, its table-of-contents byte and what follows. */
function packet(config: number, code: number, rest: readonly number[] = []): Buffer {
  const bytes = Buffer.from([(config << 3) | code, ...rest]);
  const length = Buffer.alloc(2);
  length.writeUInt16LE(bytes.length);
  return Buffer.concat([length, bytes]);
}

describe('the length of audio', () => {
  it('is known of samples by their rate', () => {
    expect(pcmMs(32_000, 16_000)).toBe(1_000);
    expect(measureAudio(specOf({ audioFormat: 'pcm16', sampleRate: 8_000 }), Buffer.alloc(8_000))).toBe(500);
  });

  it('is known of opus by the first byte of each packet', () => {
    const packets = [
      packet(9, 0), // 20 ms
      packet(3, 0), // 60 ms
      packet(16, 1), // two of 2.5 ms
      packet(31, 2), // two of 20 ms
      packet(12, 3, [3]), // three of 10 ms
    ];
    expect(opusMs(Buffer.concat(packets))).toBe(20 + 60 + 5 + 40 + 30);
    expect(measureAudio(specOf({ audioFormat: 'opus' }), Buffer.concat(packets))).toBe(155);
  });

  it('never counts a packet that is cut short, nor more than a packet may have', () => {
    expect(opusMs(packet(9, 0).subarray(0, 2))).toBe(0);
    expect(opusMs(Buffer.concat([packet(9, 0), Buffer.from([9, 0, 8])]))).toBe(20);
    expect(opusMs(packet(11, 3, [63]))).toBe(120);
    expect(opusMs(packet(11, 3))).toBe(0);
  });

  it('is a number for any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 500 }), (bytes) => {
        const ms = opusMs(Buffer.from(bytes));
        expect(Number.isInteger(ms) && ms >= 0 && ms <= bytes.length * 120).toBe(true);
      }),
    );
  });

  it('is known of a wav file by its header', () => {
    const file = wrapWav(Buffer.alloc(48_000), 24_000);
    expect(wavMs(file.subarray(0, 44), file.length)).toBe(1_000);
    expect(wavMs(Buffer.alloc(44), 48_000)).toBeUndefined();
  });
});

describe('a result has used', () => {
  it('audio, characters and voice, per stage of its pipeline and language', () => {
    expect(measure({}, { ttsAudio: base64(32_000), ttsFormat: 'pcm16' }, 1_500)).toEqual({
      at: 7,
      stages: [
        { stage: 'asr', language: 'zh', amounts: { results: 1, audio_ms: 1_500 } },
        { stage: 'semantic', language: 'zh', amounts: { results: 1, characters: 2 } },
        { stage: 'nmt', language: 'zh>en', amounts: { results: 1, characters: 2 } },
        { stage: 'tts', language: 'en', amounts: { results: 1, characters: 5, voice_ms: 1_000 } },
      ],
    });
  });

  it('the translation of a typed text, counted in code points', () => {
    const pipeline = { ...ALL, use_asr: false, use_semantic: false };
    const { stages } = measure({ inputText: 'a😀b', pipeline }, { textAsr: '' });
    expect(stages).toEqual([{ stage: 'nmt', language: 'zh>en', amounts: { results: 1, characters: 3 } }]);
  });

  it('only the stages that a job of a plan names', () => {
    const stages = ['tts'] as const;
    const voice = { ttsAudio: base64(32_000), ttsFormat: 'pcm16' };
    const spec = { inputText: 'hola', stages, sourceLanguage: 'es', targetLanguage: 'es' };
    expect(measure(spec, { ...voice, textAsr: '', textTranslated: '' }).stages).toEqual([
      { stage: 'tts', language: 'es', amounts: { results: 1, characters: 4, voice_ms: 1_000 } },
    ]);
  });

  it('an unmeasured job if its audio was elsewhere and the node does not report its length', () => {
    expect(measure({}, {}).stages[0]?.amounts).toEqual({ results: 1, unmeasured: 1 });
    expect(measure({}, { extra: { audio_duration_ms: 900 } }).stages[0]?.amounts).toEqual({
      results: 1,
      audio_ms: 900,
    });
    for (const audio_duration_ms of [-1, 'long', Number.NaN, 1e300])
      expect(measure({}, { extra: { audio_duration_ms } }).stages[0]?.amounts.unmeasured).toBe(1);
  });

  it('the recognised language, also of a conversation in two', () => {
    const details = { detected_language: 'DE-de' };
    expect(measure({ sourceLanguage: 'auto' }, { details }).stages[2]?.language).toBe('de-de>en');
    const both = { languageA: 'zh', languageB: 'en' };
    expect(measure(both, { details: { detected_language: 'en' } }).stages[2]?.language).toBe('en>zh');
    const text = { detected_language: 'no language' };
    expect(measure({ sourceLanguage: 'auto' }, { details: text }).stages[0]?.language).toBe('auto');
  });

  it('nothing of a stage that had nothing to do', () => {
    const stages = measure({}, { textAsr: '', textTranslated: '' }, 800).stages;
    expect(stages.map(({ stage }) => stage)).toEqual(['asr']);
  });

  it('an unmeasured voice if only a decoder knows its length', () => {
    const { stages } = measure({}, { ttsAudio: base64(1_000), ttsFormat: 'mp3' });
    expect(stages[3]?.amounts).toEqual({ results: 1, characters: 5, unmeasured: 1 });
    const opus = Buffer.concat([packet(9, 0), packet(9, 0)]).toString('base64');
    expect(measure({}, { ttsAudio: opus, ttsFormat: 'opus' }).stages[3]?.amounts.voice_ms).toBe(40);
    const wav = wrapWav(Buffer.alloc(48_000), 24_000).toString('base64');
    expect(measure({}, { ttsAudio: wav, ttsFormat: 'wav' }).stages[3]?.amounts.voice_ms).toBe(1_000);
  });
});
