/** What a node says of itself becomes one profile, whichever generation it speaks. */
import { describe, expect, it } from 'vitest';
import type { CapabilityReport, NodeTraits } from '../../src/domain/capability-report.ts';
import { ANY } from '../../src/domain/language.ts';
import { translates } from '../../src/domain/profile.ts';
import { understand } from '../../src/management/registration/profile.ts';
import { COLD_REPORT, READY_REPORT } from './registry-fixture.ts';

const TRAITS: NodeTraits = { features: [], gpuCount: 1 };
const EMOTION = { modelId: 'emotion-xlm-r', kind: 'emotion', isEnabled: true };
const RULES = { assumeAnyLanguage: true, coreServices: {} };

const profileOf = (report: Partial<CapabilityReport>, rules: Partial<typeof RULES> = {}) =>
  understand({ models: [], ...report }, TRAITS, { ...RULES, ...rules });

const aModel = (kind: string, sourceLanguage?: string, targetLanguage?: string, isEnabled = true) => ({
  modelId: `${kind}-${sourceLanguage}-${targetLanguage}`,
  kind,
  isEnabled,
  ...(sourceLanguage !== undefined && { sourceLanguage }),
  ...(targetLanguage !== undefined && { targetLanguage }),
});

describe('service types of the second generation', () => {
  it('are ready as listed', () => {
    const { readyTypes } = profileOf({
      types: [
        { type: 'asr', isReady: true },
        { type: 'nmt', isReady: false },
        { type: 'Semantic', isReady: true },
      ],
    });
    expect(readyTypes).toEqual(['asr', 'semantic']);
  });

  it('are installed if a service has them, not by the list alone', () => {
    const { installedTypes, installedServices, readyServices } = profileOf({
      services: [
        { serviceId: 'faster-whisper-vad', type: 'asr', status: 'running' },
        { serviceId: 'nmt-m2m100', type: 'nmt', status: 'stopped' },
      ],
      types: ['asr', 'nmt', 'tts'].map((type) => ({ type, isReady: type === 'asr' })),
    });
    expect(installedTypes).toEqual(['asr', 'nmt']);
    expect(installedServices).toEqual(['faster-whisper-vad', 'nmt-m2m100']);
    expect(readyServices).toEqual(['faster-whisper-vad']);
  });

  it('are installed as listed when no services are named', () => {
    const types = ['asr', 'tone'].map((type) => ({ type, isReady: false }));
    expect(profileOf({ types }).installedTypes).toEqual(['asr', 'tone']);
  });

  it('derive a missing semantic entry from the semantic languages', () => {
    const types = [{ type: 'asr', isReady: true }];
    expect(profileOf({ types }).readyTypes).toEqual(['asr']);
    expect(profileOf({ types, languages: { semantic: [] } }).readyTypes).toEqual(['asr']);
    expect(profileOf({ types, languages: { semantic: ['zh'] } }).readyTypes).toContain('semantic');
    expect(profileOf({ types, languages: { isSemanticCoreReady: true } }).readyTypes).toContain('semantic');
  });

  it('accept a semantic entry that is not ready, whatever the languages are', () => {
    const types = [{ type: 'semantic', isReady: false }];
    expect(profileOf({ types, languages: { semantic: ['zh'] } }).readyTypes).toEqual([]);
  });

  it('come from the services if only services are reported', () => {
    const { installedTypes, readyTypes } = profileOf({
      services: [
        { serviceId: 'a', type: 'asr', status: 'running' },
        { serviceId: 'b', type: 'tts', status: 'error' },
      ],
    });
    expect(installedTypes).toEqual(['asr', 'tts']);
    expect(readyTypes).toEqual(['asr']);
  });
});

describe('service types of the first generation', () => {
  const serviceStates = new Map([
    ['speech-one', 'ready'],
    ['words', 'downloading'],
    ['piper-tts', 'ready'],
    ['gone', 'not_installed'],
  ]);

  it('come from the core services, then the model, then the id', () => {
    const models = [{ modelId: 'words', kind: 'nmt', isEnabled: true }];
    const { installedTypes, readyTypes, installedServices, readyServices } = profileOf(
      { models, serviceStates },
      { coreServices: { asr: 'speech-one' } },
    );
    expect(installedTypes).toEqual(['asr', 'nmt', 'semantic', 'tts']);
    expect(readyTypes).toEqual(['asr', 'semantic', 'tts']);
    expect(installedServices).toEqual(['piper-tts', 'speech-one', 'words']);
    expect(readyServices).toEqual(['piper-tts', 'speech-one']);
  });

  it('include the services of legacy nodes by name', () => {
    const states = ['node-inference', 'nmt-m2m100', 'piper-tts', 'speaker-embedding', 'semantic-repair-zh'];
    const { readyTypes } = profileOf({ serviceStates: new Map(states.map((id) => [id, 'ready'])) });
    expect(readyTypes).toEqual(['asr', 'nmt', 'semantic', 'tone', 'tts']);
  });

  it('include semantic, which this generation cannot report', () => {
    expect(profileOf({ serviceStates: new Map([['x-asr', 'ready']]) }).readyTypes).toContain('semantic');
  });

  it('do not include semantic while nothing is ready', () => {
    expect(profileOf({ serviceStates: new Map([['x-asr', 'downloading']]) }).readyTypes).toEqual([]);
  });

  it('do not include semantic when a semantic service is not ready', () => {
    const states = new Map([
      ['x-asr', 'ready'],
      ['semantic-repair', 'error'],
    ]);
    expect(profileOf({ serviceStates: states }).readyTypes).toEqual(['asr']);
  });

  it('count a service of unknown type as something ready', () => {
    expect(profileOf({ serviceStates: new Map([['mystery', 'ready']]) }).readyTypes).toContain('other');
  });
});

describe('a node with a short report', () => {
  it('has any type and any language', () => {
    const profile = profileOf({});
    expect(profile.installedTypes).toBe(ANY);
    expect(profile.readyTypes).toBe(ANY);
    expect([profile.asr, profile.semantic, profile.tts]).toEqual([ANY, ANY, ANY]);
    expect(translates(profile.nmt, 'sw', 'mi')).toBe(true);
  });

  it('has no language if the settings do not accept unknown languages', () => {
    const profile = profileOf({}, { assumeAnyLanguage: false });
    expect([profile.asr, profile.semantic, profile.tts]).toEqual([[], [], []]);
    expect(translates(profile.nmt, 'zh', 'en')).toBe(false);
  });

  it('has the languages and types of its enabled models', () => {
    const profile = profileOf({
      models: [
        aModel('asr', 'zh-CN'),
        aModel('nmt', 'zh', 'en'),
        aModel('nmt', 'en', 'de', false),
        aModel('tts', undefined, 'en-US'),
      ],
    });
    expect(profile.readyTypes).toEqual(['asr', 'nmt', 'semantic', 'tts']);
    expect(profile.asr).toEqual(['zh']);
    expect(profile.semantic).toEqual(['zh']);
    expect(profile.tts).toEqual(['en']);
    expect(translates(profile.nmt, 'zh', 'en')).toBe(true);
    expect(translates(profile.nmt, 'en', 'de')).toBe(false);
  });

  it('has every language of a model without languages', () => {
    expect(profileOf({ models: [aModel('asr')] }).asr).toBe(ANY);
    expect(profileOf({ models: [aModel('asr')] }, { assumeAnyLanguage: false }).asr).toEqual([]);
  });
});

describe('declared languages', () => {
  it('make NMT all pairs of the semantic ones if it is not declared', () => {
    const { nmt } = understand(READY_REPORT, TRAITS, RULES);
    expect(translates(nmt, 'zh', 'en')).toBe(true);
    expect(translates(nmt, 'en', 'zh')).toBe(true);
    expect(translates(nmt, 'en', 'ja')).toBe(false);
  });

  it('give no undeclared NMT to a node without its type', () => {
    const languages = { semantic: ['zh', 'en'] };
    const types = (isReady: boolean) => [{ type: 'nmt', isReady }];
    const without = profileOf({ types: [{ type: 'asr', isReady: true }], languages });
    expect(translates(without.nmt, 'zh', 'en')).toBe(false);
    // A type that is only not ready yet keeps its languages: the refusal then says that the model is not ready.
    const cold = profileOf({ types: types(false), languages });
    expect([translates(cold.nmt, 'zh', 'en'), cold.readyTypes.includes('nmt')]).toEqual([true, false]);
  });

  it('mean none when the list is empty', () => {
    const profile = understand(COLD_REPORT, TRAITS, RULES);
    expect([profile.asr, profile.semantic, profile.tts]).toEqual([[], [], []]);
    expect(profile.readyTypes).toEqual([]);
    expect(translates(profile.nmt, 'zh', 'en')).toBe(false);
    expect(profileOf({ languages: { semantic: ['zh'], translations: [] } }).nmt.sources).toEqual([]);
  });

  it('fold to one spelling, sorted and without repeats', () => {
    const { asr } = profileOf({ languages: { asr: ['zh-TW', 'EN', 'zh_cn', 'auto', 'en-GB', 'iw'] } });
    expect(asr).toEqual(['en', 'he', 'zh']);
  });

  it('leave recognition open when only other stages are declared', () => {
    const languages = { semantic: ['zh'] };
    expect(profileOf({ languages }).asr).toBe(ANY);
    expect(profileOf({ languages }, { assumeAnyLanguage: false }).asr).toBe(ANY);
  });

  it('derive speech from its models when it is not declared', () => {
    const report = { models: [aModel('tts', 'ja')], languages: { semantic: ['zh'] } };
    expect(profileOf(report).tts).toEqual(['ja']);
    expect(profileOf({ languages: { semantic: ['zh'] } }).tts).toBe(ANY);
  });
});

describe('traits', () => {
  it('make a node without extensions a legacy node', () => {
    expect(understand(READY_REPORT, TRAITS, RULES)).toMatchObject({ isLegacy: true, supports: [] });
    const supports = ['job_ack', 'telepathy'];
    expect(understand(READY_REPORT, { ...TRAITS, supports }, RULES)).toMatchObject({
      isLegacy: false,
      supports: ['job_ack'],
    });
    expect(understand(READY_REPORT, { ...TRAITS, supports: [] }, RULES).isLegacy).toBe(false);
  });

  it.each([
    ['declares it', { features: ['emotion_detection'] }, {}, true],
    [
      'runs a service that does it',
      {},
      { services: [{ serviceId: 'emotion-xlm-r', status: 'running' }] },
      true,
    ],
    [
      'has such a service, stopped',
      {},
      { services: [{ serviceId: 'emotion-xlm-r', status: 'stopped' }] },
      false,
    ],
    ['says the service is ready', {}, { serviceStates: new Map([['emotion-xlm-r', 'ready']]) }, true],
    ['is downloading it', {}, { serviceStates: new Map([['emotion-xlm-r', 'downloading']]) }, false],
    ['has the model', {}, { models: [EMOTION] }, true],
    ['has the model switched off', {}, { models: [{ ...EMOTION, isEnabled: false }] }, false],
    [
      'has the model but says it is not ready',
      {},
      { models: [EMOTION], serviceStates: new Map([['emotion-xlm-r', 'not_installed']]) },
      false,
    ],
    ['has nothing of it', {}, {}, false],
  ])('offers a feature or not when it %s', (_, traits, report, isOffered) => {
    const { features } = understand({ models: [], ...report }, { ...TRAITS, ...traits }, RULES);
    expect(features).toEqual(isOffered ? ['emotion_detection'] : []);
  });

  it('pass through', () => {
    const traits = { features: ['b', 'a', 'b'], gpuCount: 0, privateTo: 'acme' };
    expect(understand(READY_REPORT, traits, RULES)).toMatchObject({
      features: ['a', 'b'],
      hasGpu: false,
      privateTo: 'acme',
    });
  });
});
