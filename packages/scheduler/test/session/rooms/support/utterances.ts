/** Accepted utterances for tests of rooms. */
import type { AcceptedUtterance } from '../../../../src/domain/room-log.ts';

export const acceptedBy = (
  speaker: string,
  utterance: string,
  source = 'en',
  driver = 'a/1',
): AcceptedUtterance => ({
  utterance,
  speaker,
  source,
  startedAt: 0,
  acceptedAt: 1,
  driver,
  plan: {
    sessionId: speaker,
    name: utterance,
    fingerprint: utterance,
    source,
    spec: {
      utteranceIndex: 0,
      audioFormat: 'pcm16',
      sampleRate: 16_000,
      traceId: 't',
      groupId: 'g',
      partIndex: 0,
      cut: 'manual',
    },
    need: { needsPublicNode: true },
    deadlineAt: 30_000,
    waitMs: 10_000,
  },
});
