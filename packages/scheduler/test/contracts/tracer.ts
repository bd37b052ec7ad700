/** Contract of Tracer: its law as tests, for any adapter. */
import { describe, expect, it } from 'vitest';
import type { JobRecord } from '../../src/domain/job.ts';
import type { TracedUtterance, Tracer } from '../../src/ports/tracer.ts';
import { type Closable, perTest } from './harness.ts';

/** A span in the form of a trace viewer. */
export interface SpanSeen {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
}

export interface TracerHarness extends Closable {
  readonly tracer: Tracer;
  /** Makes the collector reject or accept spans. */
  setReachable(isReachable: boolean): void;
  /** All received requests as text. */
  text(): string;
  /** All received spans, once every earlier span has been sent or dropped. */
  seen(): Promise<readonly SpanSeen[]>;
  dropped(): number;
}

const AT = 1_700_000_000_000;

export const settledJob = (over: Partial<JobRecord> = {}): JobRecord => ({
  jobId: 'job-1',
  tenantId: 'acme',
  sessionId: 's-1',
  spec: {
    utteranceIndex: 7,
    sourceLanguage: 'en',
    targetLanguage: 'zh',
    pipeline: { use_asr: true, use_nmt: true, use_tts: true, use_semantic: true, use_tone: false },
    audio: { kind: 'none' },
    audioFormat: 'pcm16',
    sampleRate: 16_000,
    traceId: 'trace-1',
    groupId: 's-1.g7',
    contextText: 'what was said before',
    cut: 'manual',
  },
  state: 'FINISHED',
  fence: { nodeId: 'node-a', attempt: 1 },
  createdAt: AT,
  deadlineAt: AT + 90_000,
  timeline: [
    { state: 'CREATED', at: AT, attempt: 0 },
    { state: 'RESERVED', at: AT, attempt: 1, nodeId: 'node-a' },
    { state: 'DISPATCHED', at: AT + 1, attempt: 1, nodeId: 'node-a' },
    { state: 'RUNNING', at: AT + 3, attempt: 1, nodeId: 'node-a' },
    { state: 'FINISHED', at: AT + 40, attempt: 1, nodeId: 'node-a' },
  ],
  result: {
    textAsr: 'words heard',
    textTranslated: 'words translated',
    ttsAudio: 'U09VTkQ=',
    ttsFormat: 'wav',
  },
  ...over,
});

export const endedUtterance = (over: Partial<TracedUtterance> = {}): TracedUtterance => ({
  traceId: 'trace-1',
  tenantId: 'acme',
  sessionId: 's-1',
  index: 7,
  jobId: 'job-1',
  startedAt: AT - 500,
  acceptedAt: AT,
  readyAt: AT + 40,
  endedAt: AT + 42,
  outcome: 'result',
  deliverySeq: 1,
  ...over,
});

export function tracerContract(name: string, open: () => Promise<TracerHarness>): void {
  describe(`Tracer: ${name}`, () => {
    const start = perTest(open);

    it('makes one tree of a job and its utterance, in either order', async () => {
      for (const isJobFirst of [true, false]) {
        const { tracer, seen } = await start();
        if (isJobFirst) tracer.jobSettled(settledJob());
        tracer.utteranceEnded(endedUtterance());
        if (!isJobFirst) tracer.jobSettled(settledJob());
        const spans = await seen();
        const ids = new Set(spans.map(({ spanId }) => spanId));
        expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1);
        expect(ids.size).toBe(spans.length);
        expect(
          spans.filter(({ parentSpanId }) => parentSpanId === undefined).map((span) => span.name),
        ).toEqual(['utterance']);
        expect(spans.every(({ parentSpanId }) => parentSpanId === undefined || ids.has(parentSpanId))).toBe(
          true,
        );
      }
    });

    it('two instances give the same ids to the same job', async () => {
      const [one, other] = [await start(), await start()];
      one.tracer.jobSettled(settledJob());
      other.tracer.jobSettled(settledJob());
      expect(await other.seen()).toEqual(await one.seen());
    });

    it('sends no text and no audio of the conversation', async () => {
      const { tracer, seen, text } = await start();
      const failure = { code: 'PROCESSING_ERROR', message: 'words of a message' };
      tracer.jobSettled(settledJob());
      tracer.jobSettled(settledJob({ jobId: 'job-2', state: 'FAILED', failure }));
      await seen();
      expect(text()).toContain('job-2');
      expect(text()).not.toMatch(/words|said before|U09VTkQ/);
    });

    it('I11 bounded: counts the spans it drops and recovers with the collector', async () => {
      const { tracer, seen, dropped, setReachable } = await start();
      setReachable(false);
      for (let at = 0; at < 10_000; at += 1) tracer.utteranceEnded(endedUtterance({ index: at }));
      await seen();
      expect(dropped()).toBeGreaterThan(10_000);
      setReachable(true);
      const before = dropped();
      tracer.utteranceEnded(endedUtterance({ index: 10_001 }));
      expect((await seen()).length).toBeGreaterThan(0);
      expect(dropped()).toBe(before);
    });

    it('accepts records with missing fields without throwing', async () => {
      const { tracer, seen } = await start();
      tracer.jobSettled(settledJob({ timeline: [] }));
      tracer.utteranceEnded(
        endedUtterance({ readyAt: undefined, deliverySeq: undefined, outcome: 'unheard' }),
      );
      expect((await seen()).map((span) => span.name)).toEqual(['job', 'utterance']);
    });
  });
}
