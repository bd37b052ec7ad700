/** What a job requires of services: core services by id and by type, named services, features. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { expandFeatures, FEATURES } from '../../src/domain/features.ts';
import { createRequirements } from '../../src/domain/requirements.ts';

const CORE = { asr: 'node-inference', nmt: 'nmt-m2m100', tts: 'piper-tts' };
const NO_STAGE = { use_asr: false, use_nmt: false, use_tts: false, use_tone: false };
const WHOLE = { use_asr: true, use_nmt: true, use_tts: true, use_tone: false };

const pipelines = fc.record({
  use_asr: fc.boolean(),
  use_nmt: fc.boolean(),
  use_tts: fc.boolean(),
  use_tone: fc.boolean(),
});
const flagSets = fc.dictionary(fc.constantFrom(...FEATURES.keys(), 'unheard_of'), fc.boolean());

describe('core services', () => {
  it('are required by id of every job that uses their stage', () => {
    const require = createRequirements(CORE);
    expect(require({ pipeline: WHOLE }).services).toEqual(['nmt-m2m100', 'node-inference', 'piper-tts']);
    expect(require({ pipeline: { ...NO_STAGE, use_nmt: true } }).services).toEqual(['nmt-m2m100']);
    expect(require({ pipeline: NO_STAGE }).services).toEqual([]);
  });

  it('are required in addition to the type of the stage', () => {
    const { usesAsr, usesNmt, usesTts, types } = createRequirements(CORE)({ pipeline: WHOLE });
    expect({ usesAsr, usesNmt, usesTts, types }).toEqual({
      usesAsr: true,
      usesNmt: true,
      usesTts: true,
      types: [],
    });
  });

  it('are required by id of a job whose features depend on the stage', () => {
    const job = { pipeline: NO_STAGE, features: { speech_rate_control: true } };
    expect(createRequirements(CORE)(job)).toMatchObject({
      usesAsr: false,
      types: ['asr', 'tts'],
      services: ['node-inference', 'piper-tts'],
    });
  });

  it('that are not configured leave only the type required', () => {
    const require = createRequirements({ asr: '', nmt: '' });
    expect(require({ pipeline: WHOLE }).services).toEqual([]);
  });
});

describe('required services', () => {
  it('are types if the name is one, in any case, and ids otherwise', () => {
    const services = ['TTS', 'piper-tts', 'punctuation', 'Whisper@2', 'tone'];
    expect(createRequirements({})({ pipeline: NO_STAGE, services })).toMatchObject({
      types: ['punctuation', 'tone', 'tts'],
      services: ['Whisper@2', 'piper-tts'],
    });
  });

  it('that the pipeline requires anyway change nothing', () => {
    const require = createRequirements(CORE);
    const services = ['asr', 'semantic', 'nmt-m2m100', 'piper-tts', 'tts', 'nmt', 'node-inference'];
    expect(require({ pipeline: WHOLE, services })).toEqual(require({ pipeline: WHOLE }));
  });

  it('of one job do not affect the next', () => {
    const require = createRequirements({});
    require({ pipeline: WHOLE, services: ['s1'] });
    expect(require({ pipeline: WHOLE }).services).toEqual([]);
    expect(require({ pipeline: WHOLE, services: [] }).services).toEqual([]);
  });
});

describe('the requirements of a job', () => {
  it('are exactly what its flags expand to', () => {
    const require = createRequirements(CORE);
    fc.assert(
      fc.property(pipelines, fc.option(flagSets, { nil: undefined }), (pipeline, features) => {
        const on = Object.keys(features ?? {}).filter((flag) => features?.[flag] === true);
        const expanded = expandFeatures(on);
        const { types, features: required, ...rest } = require({ pipeline, features });
        expect(required ?? []).toEqual(expanded.features);
        const uses = (type: string) =>
          (type === 'asr' && rest.usesAsr) || (type === 'tts' && rest.usesTts) || types.includes(type);
        for (const type of expanded.types) expect(uses(type)).toBe(true);
        expect(types.includes('tone')).toBe(pipeline.use_tone);
        expect(rest).toMatchObject({
          usesAsr: pipeline.use_asr,
          usesNmt: pipeline.use_nmt,
          usesTts: pipeline.use_tts,
        });
        expect(require({ pipeline, features })).toEqual(createRequirements(CORE)({ pipeline, features }));
      }),
    );
  });

  it('are computed once for all jobs with the same flags', () => {
    const require = createRequirements(CORE);
    const job = () => ({ pipeline: { ...WHOLE }, features: { emotion_detection: true } });
    expect(require(job())).toBe(require(job()));
    expect(require({ pipeline: WHOLE })).toBe(require({ pipeline: WHOLE, features: { other: true } }));
  });
});
