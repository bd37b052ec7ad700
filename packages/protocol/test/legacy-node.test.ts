/** The messages of the legacy node, including nulls and omissions, are accepted. */
import { describe, expect, it } from 'vitest';
import { parseNodeMessage } from '../src/index.ts';
import { withoutNulls } from './without-nulls.ts';

const report = { job_id: 'job-1', attempt_id: 1, node_id: 'node-7', session_id: 's-1', trace_id: 'trace-1' };
const resourceUsage = {
  cpu_percent: 12.5,
  gpu_percent: null,
  gpu_mem_percent: -1,
  mem_percent: 40,
  running_jobs: 0,
};

const fromNode = {
  'node_register, capability schema 2.0': {
    type: 'node_register',
    node_id: null,
    version: '2.0.0',
    capability_schema_version: '2.0',
    platform: 'windows',
    hardware: { cpu_cores: 16, memory_gb: 32, gpus: [{ name: 'NVIDIA RTX 4060', memory_gb: 8 }] },
    installed_models: [],
    installed_services: [
      {
        service_id: 'faster-whisper-vad',
        type: 'asr',
        device: 'gpu',
        status: 'running',
        version: '2.0.0',
        model_id: 'Systran/faster-whisper-large-v3',
        engine: null,
        mem_mb: null,
        warmup_ms: null,
        last_error: null,
      },
    ],
    capability_by_type: [
      { type: 'asr', ready: true, devices: ['gpu'] },
      { type: 'tone', ready: false, reason: 'no_impl', ready_impl_ids: null },
    ],
    features_supported: { emotion_detection: false },
    advanced_features: ['batched_inference'],
    accept_public_jobs: true,
    language_capabilities: {
      asr_languages: ['zh', 'en'],
      tts_languages: [],
      semantic_languages: ['zh', 'en'],
      semantic_core_ready: true,
    },
  },
  'node_register, capability schema 1.0': {
    type: 'node_register',
    node_id: 'node-7',
    version: '1.0.0',
    capability_schema_version: null,
    platform: 'linux',
    hardware: { cpu_cores: 8, memory_gb: 16, gpus: null },
    installed_models: [
      {
        model_id: 'm2m100',
        kind: 'nmt',
        src_lang: 'zh',
        tgt_lang: 'en',
        dialect: null,
        version: '1',
        enabled: true,
      },
    ],
    installed_services: [{ service_id: 'node-inference', version: '1.0.0', platform: 'linux-x64' }],
    capability_state: {
      'node-inference': 'ready',
      'nmt-m2m100': 'downloading',
      'piper-tts': 'not_installed',
    },
    features_supported: {},
    accept_public_jobs: true,
  },
  node_heartbeat: {
    type: 'node_heartbeat',
    node_id: 'node-7',
    timestamp: 1_767_000_000_000,
    resource_usage: resourceUsage,
    installed_models: null,
    installed_services: [],
    capability_by_type: [],
    rerun_metrics: {
      totalReruns: 3,
      successfulReruns: 2,
      failedReruns: 1,
      timeoutReruns: 0,
      qualityImprovements: 1,
    },
    asr_metrics: { processingEfficiency: null },
    processing_metrics: { serviceEfficiencies: { 'faster-whisper-vad': 4.2, 'piper-tts': null } },
    language_capabilities: {
      asr_languages: [],
      tts_languages: [],
      semantic_languages: [],
      semantic_core_ready: false,
    },
  },
  job_ack: { type: 'job_ack', ...report },
  job_started: { type: 'job_started', ...report },
  asr_partial: {
    type: 'asr_partial',
    job_id: 'job-1',
    node_id: 'node-7',
    session_id: 's-1',
    utterance_index: 3,
    text: '你好',
    is_final: false,
    trace_id: 'trace-1',
  },
  'job_result with a translation': {
    type: 'job_result',
    ...report,
    utterance_index: 3,
    success: true,
    text_asr: '你好',
    text_translated: 'Hello',
    tts_audio: 'AAECAw==',
    tts_format: 'opus',
    extra: {
      emotion: null,
      speech_rate: 1.1,
      voice_style: null,
      language_probability: 0.98,
      language_probabilities: { zh: 0.98, en: 0.02 },
      a_free_key: { nested: [1, 2] },
    },
    processing_time_ms: 812,
    error: null,
    asr_quality_level: 'good',
    reason_codes: [],
    quality_score: 0.93,
    rerun_count: 0,
    segments_meta: { count: 2, max_gap: 0.4, avg_duration: 1.2 },
  },
  'job_result without text': {
    type: 'job_result',
    ...report,
    utterance_index: 3,
    success: true,
    text_asr: '',
    text_translated: '',
    tts_audio: '',
    tts_format: 'opus',
    extra: { reason: 'NO_TEXT_ASSIGNED' },
    processing_time_ms: 0,
  },
  'job_result of a missing model': {
    type: 'job_result',
    ...report,
    utterance_index: 3,
    success: false,
    text_asr: null,
    error: {
      code: 'MODEL_NOT_AVAILABLE',
      message: 'service is not running',
      details: { service_id: 'nmt-m2m100', service_version: '1.0', reason: 'not found' },
    },
  },
  'job_result with a code of the node’s own': {
    type: 'job_result',
    ...report,
    utterance_index: 3,
    success: false,
    error: { code: 'PROCESSING_ERROR', message: 'DUPLICATE_JOB_ID job-1', details: null },
  },
  node_error: {
    type: 'node_error',
    node_id: 'node-7',
    code: 'GPU_LOST',
    message: 'no device',
    details: null,
  },
};

describe('legacy node', () => {
  it.each(Object.entries(fromNode))('%s of a legacy node is accepted', (_, message) => {
    expect(parseNodeMessage(JSON.stringify(message))).toStrictEqual({
      kind: 'message',
      message: withoutNulls(message),
    });
  });

  it('unknown service types and engines are accepted', () => {
    const message = structuredClone(fromNode['node_register, capability schema 2.0']);
    Object.assign(message.installed_services[0] as object, {
      type: 'lip-sync',
      device: 'npu',
      engine: 'x',
      status: 'paused',
    });
    Object.assign(message, { platform: 'plan9' });
    expect(parseNodeMessage(JSON.stringify(message)).kind).toBe('message');
  });
});
