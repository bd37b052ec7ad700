/** One chain of a plan as a job: it is dispatched or found, watched to its end, and passes its text on. */
import { describe, expect, it } from 'vitest';
import { createJobEvents } from '../../../src/adapters/memory/job-events.ts';
import type { DispatchOutcome, DispatchRequest } from '../../../src/domain/dispatch.ts';
import type { JobRecord, JobState } from '../../../src/domain/job.ts';
import type { JobResult } from '../../../src/domain/job-spec.ts';
import type { EarlyText } from '../../../src/domain/node-report.ts';
import type { PlanRequest } from '../../../src/domain/plan.ts';
import { createRequirements } from '../../../src/domain/requirements.ts';
import type { Chain } from '../../../src/domain/stage.ts';
import { type ChainText, createChainJobs } from '../../../src/runtime/stages/chain-jobs.ts';
import { createTextsOfJobs } from '../../../src/runtime/texts-of-jobs.ts';
import { createManualClock } from '../../support/manual-clock.ts';

const TRUNK: Chain = { stages: ['asr', 'semantic'], input: 'audio', source: 'en', target: 'en' };
const WHOLE: Chain = {
  stages: ['asr', 'semantic', 'nmt', 'tts'],
  input: 'audio',
  source: 'en',
  target: 'es',
};
const TO_ES: Chain = { stages: ['nmt'], input: 'text', source: 'en', target: 'es' };
const HELLO = { text: 'hello', language: 'en', sourceText: 'hello', sourceLanguage: 'en' };
const NO_RESULT: JobResult = { textAsr: '', textTranslated: '', ttsAudio: '', ttsFormat: '' };
const DOWN: DispatchOutcome = { kind: 'refused', code: 'SCHEDULER_DEPENDENCY_DOWN', message: 'down' };
const DEADLINE_MS = 90_000;
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function createRig(answers: (DispatchOutcome | 'throw' | undefined)[] = []) {
  const clock = createManualClock();
  const events = createJobEvents({ maxListeners: 100 });
  const requests: DispatchRequest[] = [];
  const moves: string[] = [];
  const told: string[] = [];
  const cancelled: string[] = [];
  const earlyTexts = createTextsOfJobs<EarlyText>();
  const stopped = new AbortController();
  let stored: JobRecord | undefined;
  let isWanted = true;
  const request = {
    tenantId: 't',
    sessionId: 's',
    name: 'n',
    fingerprint: 'f',
    input: { kind: 'audio', source: { kind: 'held', bytes: 5 }, audio: Buffer.from('hello') },
    source: 'en',
    wanted: [],
    spec: { utteranceIndex: 3, audioFormat: 'pcm16', sampleRate: 16_000, traceId: 'trace', cut: 'manual' },
    need: { needsPublicNode: true },
    deadlineAt: clock.now() + DEADLINE_MS,
    waitMs: 10_000,
  } as PlanRequest;
  const record = (state: JobState, more: Partial<JobRecord> = {}): JobRecord =>
    ({ jobId: 'job-1', state, deadlineAt: request.deadlineAt, spec: request.spec, ...more }) as JobRecord;
  const jobs = createChainJobs({
    clock,
    chance: () => 0.5,
    log: { debug() {}, info() {}, warn() {}, error() {} },
    require: createRequirements({}),
    dispatch(given) {
      requests.push(given);
      const answer = answers.shift();
      if (answer === 'throw') throw new Error('broken');
      return answer ?? { kind: 'dispatched', job: record('DISPATCHED'), isRepeat: false };
    },
    earlyTexts,
    cancel: async (jobId, _reason, code) => void cancelled.push(`${jobId} ${code}`),
    store: { bound: async () => stored },
    reader: {
      watch: (jobId, listen) => events.subscribe(jobId, listen),
      settled: async () => stored,
    },
  });
  return {
    clock,
    events,
    requests,
    moves,
    told,
    cancelled,
    tell: (textAsr: string, textTranslated: string) =>
      earlyTexts.publish('job-1', { textAsr, textTranslated }),
    stopped,
    request,
    record,
    setStored(job: JobRecord | undefined) {
      stored = job;
    },
    unwanted() {
      isWanted = false;
    },
    run: (chain: Chain, text?: ChainText, given: Partial<PlanRequest> = {}) =>
      jobs.run(chain, { ...request, ...given }, text, {
        signal: stopped.signal,
        isWanted: () => isWanted,
        moved: ({ state }) => void moves.push(state),
        told: ({ text: { sourceText, text: own, language } }) =>
          void told.push(`${sourceText}|${own} ${language}`),
      }),
  };
}

describe('a chain as a job', () => {
  it('is bound to what it yields, and has the deadline of its plan', async () => {
    const { run, requests, events, record, request } = createRig();
    const outcome = run(TO_ES, HELLO);
    await settled();
    events.publish(record('FINISHED', { result: { ...NO_RESULT, textTranslated: 'hola' } }));
    expect(await outcome).toMatchObject({
      kind: 'finished',
      text: { text: 'hola', language: 'es', sourceText: 'hello', sourceLanguage: 'en' },
      isSilent: false,
    });
    expect(requests).toMatchObject([
      {
        requestId: '~n/text:es',
        fingerprint: 'f/text:es',
        deadlineAt: request.deadlineAt,
        isDependant: true,
        spec: {
          inputText: 'hello',
          stages: ['nmt'],
          targetLanguage: 'es',
          audio: { kind: 'none' },
          utteranceIndex: 3,
        },
        need: { isTextInput: true, skipsSemantic: true, isPartial: true, usesNmt: true, usesAsr: false },
      },
    ]);
  });

  it('passes on the texts that its node tells before the voice, and none after the end', async () => {
    const { run, tell, told, events, record } = createRig();
    const outcome = run(WHOLE);
    await settled();
    tell('', '');
    tell('hello', '');
    tell('hello', 'hola');
    expect(told).toEqual(['hello| es', 'hello|hola es']);
    events.publish(
      record('FINISHED', { result: { ...NO_RESULT, textAsr: 'hello', textTranslated: 'hola' } }),
    );
    await outcome;
    tell('late', 'tarde');
    expect(told).toHaveLength(2);
  });

  it('makes the voice of the told text if its node is lost, instead of all of it again', async () => {
    const { run, tell, events, record, requests, cancelled } = createRig();
    const outcome = run(WHOLE);
    await settled();
    tell('hello', 'hola');
    events.publish(record('RETRYING'));
    await settled();
    expect(cancelled).toEqual(['job-1 JOB_CANCELLED']);
    expect(requests[1]).toMatchObject({
      requestId: '~n/voice:es',
      spec: { stages: ['tts'], inputText: 'hola', sourceText: 'hello' },
    });
    events.publish(record('FINISHED', { result: { ...NO_RESULT, ttsAudio: 'AAAA' } }));
    expect(await outcome).toMatchObject({
      text: { text: 'hola', sourceText: 'hello' },
      result: { ttsAudio: 'AAAA' },
    });
  });

  it('leaves the job alone if only the source text was told', async () => {
    const { run, tell, events, record, cancelled } = createRig();
    void run(WHOLE);
    await settled();
    tell('hello', '');
    events.publish(record('RETRYING'));
    await settled();
    expect(cancelled).toEqual([]);
  });

  it('passes on no early text of a chain without a voice: its outcome is as early', async () => {
    const { run, tell, told } = createRig();
    void run(TO_ES, HELLO);
    await settled();
    tell('', 'hola');
    expect(told).toEqual([]);
  });

  it('the text of a pivot names what was recognised', async () => {
    const { run, requests } = createRig();
    void run(TO_ES, { ...HELLO, text: 'bonjour', language: 'fr' });
    await settled();
    expect(requests[0]?.spec).toMatchObject({
      inputText: 'bonjour',
      sourceText: 'hello',
      sourceLanguage: 'fr',
    });
  });

  it('the times of the chains before are part of the result', async () => {
    const { run, events, record } = createRig();
    const outcome = run(TO_ES, { ...HELLO, timings: { asr_ms: 300, total_ms: 310 } });
    await settled();
    const service_timings = { nmt_ms: 4, total_ms: 5 };
    const result = { ...NO_RESULT, textTranslated: 'hola', extra: { models: {}, service_timings } };
    events.publish(record('FINISHED', { result }));
    const sums = { asr_ms: 300, nmt_ms: 4, total_ms: 315 };
    expect(await outcome).toMatchObject({
      text: { timings: sums },
      result: { extra: { models: {}, service_timings: sums } },
    });
  });

  it('an empty recognition is silence, and the reported language is folded', async () => {
    const { run, events, record } = createRig();
    const outcome = run(TRUNK);
    await settled();
    events.publish(record('FINISHED', { result: { ...NO_RESULT, details: { detected_language: 'EN-us' } } }));
    expect(await outcome).toMatchObject({ isSilent: true, text: { language: 'en' } });
  });

  it('a failed job fails its chain with the code of the node', async () => {
    const { run, events, record } = createRig();
    const outcome = run(TRUNK);
    await settled();
    events.publish(record('FAILED', { failure: { code: 'MODEL_LOAD_FAILED', message: 'no memory' } }));
    expect(await outcome).toMatchObject({ kind: 'failed', code: 'MODEL_LOAD_FAILED', message: 'no memory' });
  });

  it('I7: is tried again while the store is down, then refused', async () => {
    const { run, requests, clock, moves } = createRig([DOWN, DOWN, ...Array(100).fill(DOWN)]);
    const outcome = run(TRUNK);
    await clock.advance(1_000);
    expect(requests.length).toBeGreaterThan(3);
    await clock.advance(10_000);
    expect(await outcome).toMatchObject({ kind: 'failed', code: 'SCHEDULER_DEPENDENCY_DOWN' });
    expect(moves).toEqual([]);
  });

  it('is not tried again when nothing waits for it', async () => {
    const rig = createRig([DOWN, DOWN]);
    const outcome = rig.run(TRUNK);
    rig.unwanted();
    await rig.clock.advance(1_000);
    expect(await outcome).toMatchObject({ kind: 'failed' });
    expect(rig.requests).toHaveLength(1);
  });

  it('a job whose moves were missed is read', async () => {
    const rig = createRig();
    const outcome = rig.run(TRUNK);
    await settled();
    rig.setStored(rig.record('RELEASED', { result: { ...NO_RESULT, textAsr: 'hello' } }));
    await rig.clock.advance(2_000);
    expect(await outcome).toMatchObject({ kind: 'finished', text: { text: 'hello' } });
    expect(rig.moves).toEqual(['DISPATCHED', 'RELEASED']);
  });

  it('a job whose record is gone is requested again', async () => {
    const rig = createRig();
    const outcome = rig.run(TRUNK);
    await rig.clock.advance(4_000);
    expect(rig.requests).toHaveLength(2);
    rig.events.publish(rig.record('FINISHED', { result: { ...NO_RESULT, textAsr: 'hello' } }));
    expect(await outcome).toMatchObject({ kind: 'finished', text: { text: 'hello' } });
  });

  it('a job that is never settled ends soon after its deadline', async () => {
    const rig = createRig();
    rig.setStored(rig.record('RUNNING'));
    const outcome = rig.run(TRUNK);
    await rig.clock.advance(DEADLINE_MS + 8_000);
    expect(await outcome).toMatchObject({ kind: 'failed', code: 'JOB_TIMEOUT' });
  });

  it('after the deadline nothing is dispatched', async () => {
    const rig = createRig();
    await rig.clock.advance(DEADLINE_MS);
    expect(await rig.run(TRUNK)).toMatchObject({ kind: 'failed', code: 'JOB_TIMEOUT' });
    expect(rig.requests).toEqual([]);
  });

  it('without audio, finds the job that another instance accepted', async () => {
    const rig = createRig();
    const outcome = rig.run(TRUNK, undefined, {
      input: { kind: 'audio', source: { kind: 'held', bytes: 0 }, audio: undefined },
    });
    await rig.clock.advance(1_000);
    rig.setStored(rig.record('RELEASED', { result: { ...NO_RESULT, textAsr: 'hello' } }));
    await rig.clock.advance(1_000);
    expect(await outcome).toMatchObject({ kind: 'finished', text: { text: 'hello' } });
    expect(rig.requests).toEqual([]);
  });

  it('without audio and without a job, the audio is lost', async () => {
    const rig = createRig();
    const outcome = rig.run(TRUNK, undefined, {
      input: { kind: 'audio', source: { kind: 'held', bytes: 0 }, audio: undefined },
    });
    await rig.clock.advance(10_500);
    expect(await outcome).toMatchObject({ kind: 'failed', code: 'AUDIO_LOST' });
    expect(rig.requests).toEqual([]);
  });

  it('a caller that leaves ends the wait', async () => {
    const rig = createRig();
    const outcome = rig.run(TRUNK);
    await settled();
    rig.stopped.abort();
    expect(await outcome).toMatchObject({ kind: 'failed' });
  });

  it('a fault fails the chain and rejects nothing', async () => {
    const rig = createRig(['throw']);
    expect(await rig.run(TRUNK)).toMatchObject({ kind: 'failed', code: 'INTERNAL_ERROR' });
  });
});
