import type { JobAssign, JobContext } from '@lingua/sdk/node';
import { describe, expect, it } from 'vitest';
import { writeWav } from '../../src/audio/wav.ts';
import { createRunChain } from '../../src/node/run-chain.ts';
import { testEngines } from '../support/engines.ts';
import { NEVER } from '../support/never.ts';

const ALL = { use_asr: true, use_semantic: true, use_nmt: true, use_tts: true };

const job = (fields: Partial<JobAssign> = {}): JobAssign => ({
  type: 'job_assign',
  job_id: 'job-1',
  attempt_id: 1,
  session_id: 's-1',
  utterance_index: 0,
  src_lang: 'en',
  tgt_lang: 'es',
  pipeline: ALL,
  audio: '',
  audio_format: 'pcm16',
  sample_rate: 16_000,
  trace_id: 't',
  ...fields,
});

function context(
  audio: Buffer = Buffer.alloc(3_200),
  signal = NEVER,
): JobContext & { readonly partials: string[]; readonly told: object[] } {
  const partials: string[] = [];
  const told: object[] = [];
  return {
    partials,
    told,
    signal,
    audio: async () => audio,
    partial: (text) => partials.push(text),
    texts: (texts) => told.push(texts),
  };
}

describe('a chain of stages', () => {
  it('recognises, repairs, translates and speaks, and says how', async () => {
    const { engines, calls } = testEngines();
    const given = context();
    const output = await createRunChain(engines)(job(), given);
    expect(calls).toEqual([
      ['asr', 1_600, 'en'],
      ['nmt', 'I see 25 dogs.', 'en', 'es'],
      ['tts', '<es:I see 25 dogs.>', 'es'],
    ]);
    expect(output).toMatchObject({
      text_asr: 'I see 25 dogs.',
      text_translated: '<es:I see 25 dogs.>',
      tts_format: 'pcm16',
      extra: {
        source: 'tables',
        text_before_repair: 'i see twenty five dogs',
        repaired_by: ['capital_i', 'numbers', 'full_stop'],
        models: { asr: 'ears', nmt: 'tables', tts: 'voice' },
        service_timings: {
          asr_ms: expect.any(Number),
          nmt_ms: expect.any(Number),
          total_ms: expect.any(Number),
        },
      },
    });
    expect(output.tts_audio).toHaveLength(2 * '<es:I see 25 dogs.>'.length);
    expect(given.partials).toEqual(['i see twenty five dogs']);
    expect(given.told).toEqual([{ text_asr: 'I see 25 dogs.', text_translated: '<es:I see 25 dogs.>' }]);
  });

  it('tells no texts of a job that only speaks', async () => {
    const given = context();
    const pipeline = { use_asr: false, use_semantic: false, use_nmt: false, use_tts: true };
    await createRunChain(testEngines().engines)(job({ pipeline, input_text: 'hola', src_lang: 'es' }), given);
    expect(given.told).toEqual([]);
  });

  it('uses the terms of a glossary, and says which', async () => {
    const { engines, calls } = testEngines();
    const terms = [
      { source: 'dogs', target: 'sabuesos' },
      { source: 'cat', target: 'felino' },
    ];
    const output = await createRunChain(engines)(job({ glossary: { glossary_id: 'g', terms } }), context());
    expect(output).toMatchObject({
      text_translated: '<es:I see 25 sabuesos.>',
      glossary_used: ['dogs'],
    });
    expect(calls[1]?.[1]).not.toContain('dogs');
    expect(calls[2]?.[1]).toBe('<es:I see 25 sabuesos.>');
  });

  it('translates without terms if the translator loses one', async () => {
    const { engines } = testEngines();
    const [translator] = engines.translators;
    const forgetful = {
      ...translator,
      translate: async (text: string) => (/xqvz/i.test(text) ? 'veo 25' : text.toUpperCase()),
    };
    const terms = [{ source: 'dogs', target: 'sabuesos' }];
    const run = createRunChain({ ...engines, translators: [forgetful as never] });
    expect(await run(job({ glossary: { glossary_id: 'g', terms } }), context())).toMatchObject({
      text_translated: 'I SEE 25 DOGS.',
      glossary_used: [],
    });
  });

  it('lets the translator start while the speech is recognised', async () => {
    const { engines, calls } = testEngines();
    const [translator] = engines.translators;
    const prepared = { ...translator, prepare: (pair: object) => calls.push(['prepare', pair]) };
    await createRunChain({ ...engines, translators: [prepared as never] })(job(), context());
    expect(calls.map(([name]) => name)).toEqual(['prepare', 'asr', 'nmt', 'tts']);
    expect(calls[0]).toEqual(['prepare', { source: 'en', target: 'es' }]);
  });

  it('says when the translation went through another language', async () => {
    const { engines } = testEngines();
    expect(await createRunChain(engines)(job({ tgt_lang: 'pt' }), context())).toMatchObject({
      extra: { source: 'pivot' },
    });
  });

  it('invents nothing for speech that was not understood', async () => {
    const { engines, calls } = testEngines('');
    const output = await createRunChain(engines)(job(), context());
    expect(output).toMatchObject({ text_asr: '', text_translated: '', extra: { reason: 'ASR_EMPTY' } });
    expect(output).not.toHaveProperty('tts_audio');
    expect(calls.map(([stage]) => stage)).toEqual(['asr']);
  });

  it.each([
    [['asr'], {}, ['asr'], { text_asr: 'i see twenty five dogs' }],
    [['asr', 'semantic'], {}, ['asr'], { text_asr: 'I see 25 dogs.' }],
    [['semantic'], { input_text: 'i do' }, [], { text_asr: 'I do.' }],
    [['nmt'], { input_text: 'i do' }, ['nmt'], { text_translated: '<es:i do>' }],
    [['nmt', 'tts'], { input_text: 'x' }, ['nmt', 'tts'], { text_translated: '<es:x>' }],
    [['tts'], { input_text: 'sí', src_lang: 'es-MX', tgt_lang: 'es-MX' }, ['tts'], { tts_format: 'pcm16' }],
  ] as const)('runs the named stages %j', async (stages, fields, called, expected) => {
    const { engines, calls } = testEngines();
    const output = await createRunChain(engines)(job({ stages: [...stages], ...fields }), context());
    expect(calls.map(([stage]) => stage)).toEqual(called);
    expect(output).toMatchObject(expected);
    expect('text_asr' in output).toBe(stages.some((stage) => stage === 'asr' || stage === 'semantic'));
  });

  it('reads WAV of any rate, and appends the asked silence', async () => {
    const { engines, calls } = testEngines();
    const wav = writeWav(new Int16Array(48_000), 48_000);
    await createRunChain(engines)(job({ audio_format: 'wav', padding_ms: 500 }), context(wav));
    expect(calls[0]).toEqual(['asr', 24_000, 'en']);
  });

  it.each([
    [{ audio_format: 'opus' as const }, 'PROCESSING_ERROR', /opus/],
    [{ audio_format: 'wav' as const }, 'PROCESSING_ERROR', /not a WAV/],
    [{ src_lang: 'auto' }, 'PROCESSING_ERROR', /src_lang/],
    [{ src_lang: 'de' }, 'MODEL_NOT_AVAILABLE', /asr for de/],
    [{ tgt_lang: 'ja' }, 'MODEL_NOT_AVAILABLE', /nmt for en>ja/],
    [{ stages: ['nmt' as const] }, 'PROCESSING_ERROR', /input_text/],
    [{ stages: [] }, 'PROCESSING_ERROR', /no stage/],
  ])('refuses %j', async (fields, code, message) => {
    const { engines } = testEngines();
    await expect(createRunChain(engines)(job(fields), context())).rejects.toMatchObject({
      code,
      message: expect.stringMatching(message),
    });
  });

  it('begins no further stage after a cancellation', async () => {
    const { engines, calls } = testEngines();
    const controller = new AbortController();
    const given = {
      ...context(Buffer.alloc(3_200), controller.signal),
      partial: () => controller.abort(new Error('enough')),
    };
    await expect(createRunChain(engines)(job(), given)).rejects.toThrow('enough');
    expect(calls.map(([stage]) => stage)).toEqual(['asr']);
  });
});
