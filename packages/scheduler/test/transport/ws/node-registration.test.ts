import { NodeHeartbeat, NodeRegister, parseNodeMessage } from '@lingua/protocol';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toReport } from '../../../src/transport/wire/node-report.ts';
import { toHeartbeat, toRegistration } from '../../../src/transport/ws/node-registration.ts';
import { heartbeat, register } from './messages.ts';

const as = { credential: 'token:abc', nodeId: 'node-a' };

describe('translation of node_register', () => {
  it('a registration of capability schema 2.0 is translated', () => {
    const registration = toRegistration(
      register({
        installed_models: [
          { model_id: 'm-1', kind: 'nmt', src_lang: 'zh', tgt_lang: 'en', version: '1', enabled: false },
          { model_id: 'm-2', kind: 'asr', version: '1' },
        ],
        installed_services: [{ service_id: 'asr-1', type: 'asr', device: 'gpu', status: 'running' }],
        language_capabilities: {
          asr_languages: ['zh-CN'],
          nmt_capabilities: [
            {
              model_id: 'm-1',
              languages: ['zh', 'en'],
              rule: 'any_to_en',
              blocked_pairs: [{ src: 'zh', tgt: 'ja' }],
            },
          ],
          supported_language_pairs: [{ src: 'zh', tgt: 'en' }],
        },
        max_concurrent_jobs: 8,
        supports: ['job_ack', 'audio_ref'],
        running_job_ids: ['job-1'],
        region: 'eu',
        zone: 'eu-1',
      }),
      as,
    );
    expect(registration).toEqual({
      nodeId: 'node-a',
      credential: 'token:abc',
      channel: 'socket',
      schemaVersion: '2.0',
      version: '2.3.1',
      platform: 'win32',
      hardware: { cpuCores: 16, memoryGb: 64, gpusGb: [24] },
      slots: 8,
      runningJobIds: ['job-1'],
      region: 'eu',
      zone: 'eu-1',
      traits: {
        features: ['emotion_detection'],
        gpuCount: 1,
        supports: ['job_ack', 'audio_ref'],
      },
      report: {
        models: [
          { modelId: 'm-1', kind: 'nmt', sourceLanguage: 'zh', targetLanguage: 'en', isEnabled: false },
          { modelId: 'm-2', kind: 'asr', isEnabled: true },
        ],
        services: [{ serviceId: 'asr-1', type: 'asr', status: 'running' }],
        types: [
          { type: 'asr', isReady: true },
          { type: 'nmt', isReady: true },
        ],
        languages: {
          asr: ['zh-CN'],
          translations: [
            {
              languages: ['zh', 'en'],
              rule: 'any_to_en',
              blockedPairs: [{ source: 'zh', target: 'ja' }],
              supportedPairs: [],
            },
          ],
          pairs: [{ source: 'zh', target: 'en' }],
        },
      },
    });
  });

  it('a registration of schema 1.0 keeps the state of each service', () => {
    const { report } = toRegistration(
      register({
        capability_schema_version: '1.0',
        installed_services: [{ service_id: 'nmt-zh-en', platform: 'windows-x64' }],
        capability_state: { 'nmt-zh-en': 'ready', 'tts-1': 'downloading', constructor: 'error' },
      }),
      as,
    );
    expect(report.services).toEqual([{ serviceId: 'nmt-zh-en' }]);
    expect([...(report.serviceStates ?? [])]).toEqual([
      ['nmt-zh-en', 'ready'],
      ['tts-1', 'downloading'],
      ['constructor', 'error'],
    ]);
  });

  it('absent extensions differ from an empty list', () => {
    expect(toRegistration(register(), as).traits).not.toHaveProperty('supports');
    expect(toRegistration(register(), { ...as, tenantId: 'acme' }).traits.privateTo).toBe('acme');
    expect(toRegistration(register({ accept_public_jobs: false }), as).traits.privateTo).toBe('default');
    expect(toRegistration(register({ supports: [] }), as).traits.supports).toEqual([]);
  });

  it('undeclared languages differ from an empty list', () => {
    expect(toReport({ language_capabilities: { asr_languages: [] } }).languages).toEqual({ asr: [] });
    expect(toReport({})).toEqual({});
  });

  it('absent and null fields are omitted at any depth', () => {
    const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: null });
    const word = fc.string({ maxLength: 8 });
    const message = fc.record({
      installed_services: maybe(
        fc.array(fc.record({ service_id: word, type: maybe(word), status: maybe(word) })),
      ),
      capability_by_type: maybe(
        fc.array(fc.record({ type: word, ready: fc.boolean(), reason: maybe(word) })),
      ),
      capability_state: maybe(fc.dictionary(word, word)),
      language_capabilities: maybe(
        fc.record({
          asr_languages: maybe(fc.array(word)),
          semantic_core_ready: maybe(fc.boolean()),
          supported_language_pairs: maybe(fc.array(fc.record({ src: word, tgt: word }))),
        }),
      ),
      max_concurrent_jobs: maybe(fc.integer({ min: 1, max: 10_000 })),
      supports: maybe(fc.array(fc.constantFrom('job_ack', 'drain'))),
    });
    fc.assert(
      fc.property(message, (fields) => {
        const parsed = parseNodeMessage(JSON.stringify({ ...register(), ...fields }));
        if (parsed.kind !== 'message' || parsed.message.type !== 'node_register')
          throw new Error('not parsed');
        const registration = toRegistration(parsed.message, as);
        expect(hasAbsent(registration)).toBe(false);
        expect(registration.report.types === undefined).toBe(fields.capability_by_type === null);
        expect(registration.traits.supports === undefined).toBe(fields.supports === null);
      }),
    );
  });
});

describe('translation of node_heartbeat', () => {
  it('unknown figures such as −1 are passed on', () => {
    const usage = {
      cpu_percent: -1,
      gpu_percent: -1,
      gpu_mem_percent: 3,
      mem_percent: 50,
      running_jobs: 2,
      gpu_queue_length: 4,
    };
    expect(toHeartbeat(heartbeat('node-a', { resource_usage: usage }), 7)).toEqual({
      nodeId: 'node-a',
      generation: 7,
      resources: {
        cpuPercent: -1,
        gpuPercent: -1,
        gpuMemoryPercent: 3,
        memoryPercent: 50,
        runningJobs: 2,
        gpuQueueLength: 4,
      },
    });
  });

  it('passes on the health that the node reports', () => {
    expect(toHeartbeat(heartbeat('node-a', { health: 'offline' }), 1).health).toBe('offline');
  });
});

it('every optional field of the messages is translated or listed as ignored', () => {
  // A new protocol field must be translated, or listed here as not needed by the registry.
  const ignored = [
    'type',
    'advanced_features',
    'timestamp',
    'rerun_metrics',
    'asr_metrics',
    'processing_metrics',
  ];
  const mapped = [
    ...['node_id', 'version', 'capability_schema_version', 'platform', 'hardware', 'installed_models'],
    ...['installed_services', 'capability_by_type', 'capability_state', 'language_capabilities'],
    ...['features_supported', 'accept_public_jobs', 'max_concurrent_jobs', 'supports', 'region', 'zone'],
    ...['running_job_ids', 'resource_usage', 'health', 'leaving_in_ms'],
  ];
  const fields = [...Object.keys(NodeRegister.properties), ...Object.keys(NodeHeartbeat.properties)];
  expect(fields.filter((field) => !mapped.includes(field) && !ignored.includes(field))).toEqual([]);
});

const hasAbsent = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  (typeof value === 'object' && Object.values(value).some((part) => hasAbsent(part)));
