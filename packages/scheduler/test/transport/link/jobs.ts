/** Jobs as the engine passes them to the node link. */
import type { JobRecord } from '../../../src/domain/job.ts';
import type { JobSpec } from '../../../src/domain/job-spec.ts';

export const DEADLINE_AT = 1_090_000;

export const job = (spec: Partial<JobSpec> = {}): JobRecord => ({
  jobId: 'job-1',
  tenantId: 'default',
  sessionId: 's-1',
  state: 'RESERVED',
  createdAt: 1_000_000,
  deadlineAt: DEADLINE_AT,
  timeline: [],
  spec: {
    utteranceIndex: 3,
    sourceLanguage: 'zh',
    targetLanguage: 'en',
    pipeline: { use_asr: true, use_nmt: true, use_tts: true, use_semantic: false, use_tone: false },
    audio: { kind: 'held', bytes: 4 },
    audioFormat: 'opus',
    sampleRate: 16_000,
    traceId: 'trace-1',
    cut: 'manual',
    ...spec,
  },
});

const chunk = (name: string, body: Buffer): Buffer => {
  const size = Buffer.alloc(4);
  size.writeUInt32LE(body.length);
  return Buffer.concat([Buffer.from(name), size, body, Buffer.alloc(body.length % 2)]);
};

export function wav(samples: Buffer, sampleRate = 16_000): Buffer {
  const format = Buffer.alloc(16);
  format.writeUInt16LE(1, 0);
  format.writeUInt16LE(1, 2);
  format.writeUInt32LE(sampleRate, 4);
  format.writeUInt16LE(16, 14);
  return chunk('RIFF', Buffer.concat([Buffer.from('WAVE'), chunk('fmt ', format), chunk('data', samples)]));
}
