/** Messages of legacy nodes. */
import type { JobResult, NodeHeartbeat, NodeRegister } from '@lingua/protocol';

export const register = (fields: Partial<NodeRegister> & Record<string, unknown> = {}): NodeRegister => ({
  type: 'node_register',
  version: '2.3.1',
  capability_schema_version: '2.0',
  platform: 'win32',
  hardware: { cpu_cores: 16, memory_gb: 64, gpus: [{ name: 'RTX 4090', memory_gb: 24 }] },
  installed_models: [],
  capability_by_type: [
    { type: 'asr', ready: true, devices: ['gpu'] },
    { type: 'nmt', ready: true, devices: ['gpu'] },
  ],
  features_supported: { emotion_detection: true, speech_rate_control: false },
  accept_public_jobs: true,
  language_capabilities: {
    asr_languages: ['zh', 'en'],
    tts_languages: [],
    semantic_languages: ['zh'],
    semantic_core_ready: true,
  },
  ...fields,
});

export const heartbeat = (
  nodeId: string,
  fields: Partial<NodeHeartbeat> & Record<string, unknown> = {},
): NodeHeartbeat => ({
  type: 'node_heartbeat',
  node_id: nodeId,
  timestamp: 1_700_000_000_000,
  resource_usage: { cpu_percent: 12, mem_percent: 40, running_jobs: 1 },
  ...fields,
});

export const jobResult = (
  nodeId: string,
  fields: Partial<JobResult> & Record<string, unknown> = {},
): JobResult => ({
  type: 'job_result',
  job_id: 'job-1',
  attempt_id: 1,
  node_id: nodeId,
  session_id: 's-1',
  utterance_index: 0,
  success: true,
  text_asr: 'hello',
  text_translated: 'hallo',
  trace_id: 'trace-1',
  ...fields,
});
