/** Realistic node records, for the tests of the records and of the replica. */
import type { NodeView } from '../../src/domain/node.ts';
import type { NodeProfile } from '../../src/domain/profile.ts';
import type { NodeRecord } from '../../src/ports/node-records.ts';
import { fresh } from './harness.ts';

const LANGUAGES = ['ar', 'de', 'en', 'es', 'fr', 'hi', 'it', 'ja', 'ko', 'nl', 'pl', 'pt', 'ru', 'tr', 'zh'];

/** A node with four stages, fifteen languages and a few services. */
export const typicalProfile: NodeProfile = {
  installedTypes: ['asr', 'nmt', 'semantic', 'tone', 'tts'],
  readyTypes: ['asr', 'nmt', 'semantic', 'tts'],
  installedServices: [
    'faster-whisper-vad',
    'nmt-m2m100',
    'piper-tts',
    'semantic-repair-en-zh',
    'your-tts',
    'tone-embed',
  ],
  readyServices: ['faster-whisper-vad', 'nmt-m2m100', 'piper-tts', 'semantic-repair-en-zh'],
  asr: LANGUAGES,
  semantic: ['en', 'zh'],
  tts: ['de', 'en', 'zh'],
  nmt: {
    sources: LANGUAGES,
    targets: LANGUAGES,
    blocked: [{ source: 'ar', target: 'ko' }],
    pairs: [{ source: 'yue', target: 'en' }],
  },
  features: ['emotion_detection', 'speaker_id'],
  hasGpu: true,
  supports: ['job_ack', 'audio_ref', 'drain', 'cancel_ack'],
  isLegacy: false,
  privateTo: 'acme',
  binding: { tenantId: 'acme', poolIds: [3, 7] },
};

export const viewFor = (nodeId: string, part: Partial<NodeView> = {}): NodeView => ({
  nodeId,
  profile: typicalProfile,
  health: 'ready',
  isConnected: true,
  isFresh: true,
  isCalm: true,
  isQueueing: false,
  isCordoned: false,
  isEjected: false,
  slots: 4,
  lastBeatAt: 1_700_000_000_000,
  markedServices: [],
  markedTypes: [],
  ...part,
});

export const nodeRecordFor = (part: Partial<NodeRecord> = {}, view: Partial<NodeView> = {}): NodeRecord => {
  const nodeId = part.nodeId ?? fresh('node');
  return {
    nodeId,
    generation: 1_700_000_000_000,
    version: 1,
    holder: { instanceId: 'instance-1', incarnation: 'incarnation-1' },
    credential: 'credential-1',
    channel: 'socket',
    intervalMs: 15_000,
    ...part,
    view: part.view ?? viewFor(nodeId, view),
  };
};
