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
    const news = readHeartbeat({ node_id: 'node-123', ...beat }, report.languages).report;
    return understand({ ...report, ...news }, traits, RULES);
  };

  it('named languages leave the other ones unchanged', () => {
    const now = after(body, { tts_langs: ['en'] });
    expect(now.tts).toEqual(['en']);
    expect(now.semantic).toEqual(profileOf({}).semantic);
    expect(translates(now.nmt, 'en', 'zh') && translates(now.nmt, 'zh', 'en')).toBe(true);
    expect(now.readyTypes).toEqual(['asr', 'nmt', 'semantic', 'tts']);
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
