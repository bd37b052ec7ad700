import type { HttpNodeHeartbeat, HttpNodeRegister } from '@lingua/protocol';
import { describe, expect, it } from 'vitest';
import { translates } from '../../../src/domain/profile.ts';
import { understand } from '../../../src/management/registration/profile.ts';
import { readHeartbeat, readRegistration } from '../../../src/transport/http/requests/http-registration.ts';
import { REGISTER } from './start-server.ts';

const RULES = { assumeAnyLanguage: true, coreServices: {} };
const body = REGISTER as HttpNodeRegister;
const AS = { credential: 'c' };

function profileOf(change: Partial<HttpNodeRegister>) {
  const { report, traits } = readRegistration({ ...body, ...change }, AS);
  return understand(report, traits, RULES);
}

describe('HTTP registration', () => {
  it('by default an HTTP node acknowledges, fetches audio, and polls', () => {
    expect(readRegistration(body, { credential: 'credential' })).toMatchObject({
      nodeId: 'node-123',
      credential: 'credential',
      channel: 'mailbox',
      health: 'ready',
      slots: 2,
      traits: { supports: ['job_ack', 'audio_ref'] },
    });
    expect(readRegistration({ ...body, endpoint: 'http://10.0.0.1/jobs' }, AS)).toMatchObject({
      channel: 'endpoint',
      endpoint: 'http://10.0.0.1/jobs',
    });
    expect(readRegistration({ ...body, supports: ['drain'] }, AS).traits.supports).toEqual(['drain']);
    expect(readRegistration({ ...body, health: 'offline' }, AS).health).toBe('offline');
  });

  it('a node is private to the tenant of its token, or to no tenant if it takes no public jobs', () => {
    const ownerOf = (change: Partial<HttpNodeRegister>, tenantId?: string) =>
      readRegistration({ ...body, ...change }, { ...AS, ...(tenantId && { tenantId }) }).traits.privateTo;
    expect(ownerOf({})).toBeUndefined();
    expect(ownerOf({}, 'acme')).toBe('acme');
    expect(ownerOf({ accept_public_jobs: true }, 'acme')).toBe('acme');
    expect(ownerOf({ accept_public_jobs: false })).toBe('default');
  });

  it('a node has the service types of its languages, and recognition', () => {
    expect(profileOf({}).readyTypes).toEqual(['asr', 'nmt', 'semantic', 'tts']);
    const { tts_langs: _, ...silent } = body;
    const { report, traits } = readRegistration(silent, AS);
    expect(understand(report, traits, RULES).readyTypes).toEqual(['asr', 'nmt', 'semantic']);
    expect(profileOf({ nmt_pairs: [] }).readyTypes).toEqual(['asr', 'semantic', 'tts']);
    const bare = readRegistration({ node_id: 'n' }, AS);
    expect(understand(bare.report, bare.traits, RULES).readyTypes).toEqual(['asr']);
  });

  it('a node translates its pairs, or all of its semantic languages', () => {
    const { nmt } = profileOf({ semantic_langs: ['en', 'zh', 'de'], nmt_pairs: [['en', 'zh-CN']] });
    expect(translates(nmt, 'en', 'zh')).toBe(true);
    expect(translates(nmt, 'zh', 'en')).toBe(false);
    const { nmt_pairs: _, ...undeclared } = body;
    const { report, traits } = readRegistration(undeclared, AS);
    expect(translates(understand(report, traits, RULES).nmt, 'zh', 'en')).toBe(true);
  });
});

describe('HTTP nodes report everything that socket nodes can', () => {
  it('languages of recognition, and any_to_any instead of a list of pairs', () => {
    const { asr, nmt, readyTypes } = profileOf({ asr_langs: ['en'], nmt_pairs: 'any_to_any' });
    expect(asr).toEqual(['en']);
    expect(translates(nmt, 'en', 'sw') && translates(nmt, 'zh', 'en')).toBe(true);
    expect(readyTypes).toEqual(['asr', 'nmt', 'semantic', 'tts']);
  });

  it('service types such as tone, services and models', () => {
    const types = ['asr', 'nmt', 'semantic', 'tone', 'tts'].map((type) => ({ type, ready: type !== 'tts' }));
    const profile = profileOf({
      capability_by_type: types,
      installed_services: [{ service_id: 'm2m', type: 'nmt', status: 'running', device: 'gpu' }],
    });
    expect(profile.readyTypes).toEqual(['asr', 'nmt', 'semantic', 'tone']);
    expect(profile.readyServices).toEqual(['m2m']);
    const model = { model_id: 'emotion-xlm-r', kind: 'emotion' as const, version: '1' };
    expect(readRegistration({ ...body, installed_models: [model] }, AS).report.models).toMatchObject([
      { modelId: 'emotion-xlm-r', kind: 'emotion' },
    ]);
  });

  it('features, hardware, version and platform', () => {
    const registration = readRegistration(
      {
        ...body,
        capability_schema_version: '2.0',
        version: '1.2',
        platform: 'linux',
        features_supported: { emotion_detection: true, speech_rate_control: false },
        hardware: { cpu_cores: 8, memory_gb: 32, gpus: [] },
      },
      AS,
    );
    expect(registration).toMatchObject({
      schemaVersion: '2.0',
      version: '1.2',
      platform: 'linux',
      hardware: { cpuCores: 8, memoryGb: 32, gpusGb: [] },
      traits: { features: ['emotion_detection'], gpuCount: 0 },
    });
    expect(readRegistration(body, AS).traits.gpuCount).toBe(1);
  });

  it('languages in the form of sockets, which win over the short form', () => {
    const { semantic, asr, nmt, readyTypes } = profileOf({
      semantic_langs: ['de'],
      language_capabilities: {
        semantic_languages: ['en', 'fr'],
        asr_languages: ['en'],
        nmt_capabilities: [{ model_id: 'm', languages: ['fr', 'en'], rule: 'any_to_en' }],
      },
    });
    expect([semantic, asr]).toEqual([['en', 'fr'], ['en']]);
    expect([translates(nmt, 'fr', 'en'), translates(nmt, 'en', 'fr')]).toEqual([true, false]);
    expect(readyTypes).toContain('nmt');
  });

  it('GPU memory, the GPU queue and efficiencies in heartbeats', () => {
    const beat = readHeartbeat({
      node_id: 'n',
      current_load: { gpu_mem: 0.5 },
      gpu_queue_length: 3,
      processing_metrics: { serviceEfficiencies: { m2m: 4 } },
    });
    expect(beat.resources).toEqual({ gpuMemoryPercent: 50, gpuQueueLength: 3, runningJobs: 0 });
    expect(beat.efficiencies).toEqual([['m2m', 4]]);
  });
});

describe('HTTP heartbeat', () => {
  it('load shares become percentages, and unknown ones are omitted', () => {
    const { resources } = readHeartbeat(
      { node_id: 'n', current_load: { gpu: 0.52, cpu: -1 }, running_job_ids: ['a', 'b'] },
      undefined,
    );
    expect(resources).toEqual({ gpuPercent: 52, runningJobs: 2 });
    expect(readHeartbeat({ node_id: 'n', current_load: { cpu: 7 } }, undefined).resources.cpuPercent).toBe(
      100,
    );
  });

  it('absent languages are not reported', () => {
    expect(readHeartbeat({ node_id: 'n', health: 'degraded' }, undefined)).toEqual({
      nodeId: 'n',
      resources: { runningJobs: 0 },
      health: 'degraded',
    });
  });

  const after = (registered: HttpNodeRegister, beat: Omit<HttpNodeHeartbeat, 'node_id'>) => {
    const { report, traits } = readRegistration(registered, AS);
    const news = readHeartbeat({ node_id: 'node-123', ...beat }, report).report;
    return understand({ ...report, ...news }, traits, RULES);
  };

  it('named languages leave the other ones unchanged', () => {
    const now = after(body, { tts_langs: ['en'] });
    expect(now.tts).toEqual(['en']);
    expect(now.semantic).toEqual(profileOf({}).semantic);
    expect(translates(now.nmt, 'en', 'zh') && translates(now.nmt, 'zh', 'en')).toBe(true);
    expect(now.readyTypes).toEqual(['asr', 'nmt', 'semantic', 'tts']);
  });

  it('named languages leave declared service types unchanged', () => {
    const types = ['asr', 'semantic', 'nmt', 'tone'].map((type) => ({ type, ready: true }));
    const declared = { ...body, capability_by_type: types };
    expect(after(declared, { semantic_langs: ['en'] }).readyTypes).toContain('tone');
    const stopped = { capability_by_type: [{ type: 'nmt', ready: false }] };
    expect(after(declared, stopped).readyTypes).not.toContain('nmt');
  });

  it('without pairs, translation follows the semantic languages of the heartbeat', () => {
    const { nmt_pairs: _, ...undeclared } = body;
    const { nmt } = after(undeclared, { semantic_langs: ['en', 'zh', 'ja'] });
    expect(translates(nmt, 'ja', 'en') && translates(nmt, 'zh', 'ja')).toBe(true);
  });

  it('with pairs, translation stays limited to them', () => {
    const pairs: [string, string][] = [
      ['en', 'zh'],
      ['zh', 'en'],
    ];
    const { nmt } = after({ ...body, nmt_pairs: pairs }, { semantic_langs: ['en', 'zh', 'ja'] });
    expect(translates(nmt, 'zh', 'en')).toBe(true);
    expect(translates(nmt, 'ja', 'en')).toBe(false);
  });
});
