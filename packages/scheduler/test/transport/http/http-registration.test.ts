import type { HttpNodeRegister } from '@lingua/protocol';
import { describe, expect, it } from 'vitest';
import { translates } from '../../../src/domain/profile.ts';
import { understand } from '../../../src/management/profile.ts';
import { readHeartbeat, readRegistration } from '../../../src/transport/http/http-registration.ts';
import { REGISTER } from './start-server.ts';

const RULES = { assumeAnyLanguage: true, coreServices: {} };
const body = REGISTER as HttpNodeRegister;

function profileOf(change: Partial<HttpNodeRegister>) {
  const { report, traits } = readRegistration({ ...body, ...change }, 'credential');
  return understand(report, traits, RULES);
}

describe('an HTTP registration', () => {
  it('acknowledges, fetches audio, is public and polls unless it says otherwise', () => {
    expect(readRegistration(body, 'credential')).toMatchObject({
      nodeId: 'node-123',
      credential: 'credential',
      channel: 'mailbox',
      health: 'ready',
      slots: 2,
      traits: { supports: ['job_ack', 'audio_ref'], acceptsPublicJobs: true },
    });
    expect(readRegistration({ ...body, endpoint: 'http://10.0.0.1/jobs' }, 'c')).toMatchObject({
      channel: 'endpoint',
      endpoint: 'http://10.0.0.1/jobs',
    });
    expect(readRegistration({ ...body, supports: ['drain'] }, 'c').traits.supports).toEqual(['drain']);
    expect(readRegistration({ ...body, health: 'offline' }, 'c').health).toBe('draining');
  });

  it('has the service types whose languages it names, and speech recognition', () => {
    expect(profileOf({}).readyTypes).toEqual(['asr', 'nmt', 'semantic', 'tts']);
    const { tts_langs: _, ...silent } = body;
    const { report, traits } = readRegistration(silent, 'c');
    expect(understand(report, traits, RULES).readyTypes).toEqual(['asr', 'nmt', 'semantic']);
    expect(profileOf({ nmt_pairs: [] }).readyTypes).toEqual(['asr', 'semantic', 'tts']);
    const bare = readRegistration({ node_id: 'n' }, 'c');
    expect(understand(bare.report, bare.traits, RULES).readyTypes).toEqual(['asr']);
  });

  it('translates exactly its pairs, or all among its semantic languages', () => {
    const { nmt } = profileOf({ semantic_langs: ['en', 'zh', 'de'], nmt_pairs: [['en', 'zh-CN']] });
    expect(translates(nmt, 'en', 'zh')).toBe(true);
    expect(translates(nmt, 'zh', 'en')).toBe(false);
    const { nmt_pairs: _, ...undeclared } = body;
    const { report, traits } = readRegistration(undeclared, 'c');
    expect(translates(understand(report, traits, RULES).nmt, 'zh', 'en')).toBe(true);
  });
});

describe('an HTTP heartbeat', () => {
  it('gives shares as percentages, and leaves unknown ones out', () => {
    const { resources } = readHeartbeat(
      { node_id: 'n', current_load: { gpu: 0.52, cpu: -1 }, running_job_ids: ['a', 'b'] },
      undefined,
    );
    expect(resources).toEqual({ gpuPercent: 52, runningJobs: 2 });
    expect(readHeartbeat({ node_id: 'n', current_load: { cpu: 7 } }, undefined).resources.cpuPercent).toBe(
      100,
    );
  });

  it('says nothing of languages it leaves out', () => {
    expect(readHeartbeat({ node_id: 'n', health: 'degraded' }, undefined)).toEqual({
      nodeId: 'n',
      resources: { runningJobs: 0 },
      health: 'degraded',
    });
  });

  it('that names some languages keeps the others', () => {
    const known = profileOf({});
    const beat = readHeartbeat({ node_id: 'node-123', tts_langs: ['en'] }, known);
    const { traits } = readRegistration(body, 'c');
    const now = understand(beat.report as Parameters<typeof understand>[0], traits, RULES);
    expect(now.tts).toEqual(['en']);
    expect(now.semantic).toEqual(known.semantic);
    expect(translates(now.nmt, 'en', 'zh') && translates(now.nmt, 'zh', 'en')).toBe(true);
  });
});
