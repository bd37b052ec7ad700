/** A session with several target languages: each text and each voice is an outcome of its own. */
import { describe, expect, it } from 'vitest';
import { createSessionRig, languages, opening, type SessionRig, speech } from '../support/session-rig.ts';

const TARGETS = [
  { language: 'es', isVoiceWanted: true },
  { language: 'fr', isVoiceWanted: false },
];

const several = () =>
  opening({ speech: speech({ languages: languages({ src_lang: 'en', tgt_lang: 'es' }), targets: TARGETS }) });

function speaking(texts: readonly string[], rig: SessionRig = createSessionRig()) {
  const client = rig.open(several());
  for (const text of texts) client.speak(text);
  return { rig, client };
}

describe('an utterance in several languages', () => {
  it('is one plan for all wanted texts and voices', () => {
    const { rig } = speaking(['one']);
    expect(rig.dispatcher.jobs).toEqual([]);
    expect(rig.plans.plans).toHaveLength(1);
    expect(rig.plans.plan().request).toMatchObject({ source: 'en', wanted: TARGETS, waitMs: 10_000 });
    expect(rig.plans.plan().text).toBe('one');
  });

  it('is accepted once and has one outcome for each text and voice', () => {
    const { rig, client } = speaking(['one']);
    const plan = rig.plans.plan();
    plan.admit();
    plan.recognise();
    plan.finish('fr');
    plan.finish('es');
    plan.finish('es', 'voice');
    expect(client.link.lines()).toEqual([
      'opened',
      'accepted 0',
      'partial 0 one',
      'outcome 0 fr/text:one',
      'outcome 0 es/text:one',
      'outcome 0 es/voice:one',
    ]);
    expect(client.link.of('outcome').map(({ delivered }) => delivered.deliverySeq)).toEqual([1, 2, 3]);
  });

  it('sends each ui_event once', () => {
    const { rig, client } = speaking(['one']);
    const plan = rig.plans.plan();
    plan.place({ language: 'es', kind: 'text' }, { language: 'fr', kind: 'text' });
    plan.recognise();
    plan.finish('es');
    plan.finish('fr');
    expect(client.link.ui(0)).toEqual([
      'INPUT_STARTED 0',
      'INPUT_ENDED 0',
      'DISPATCHED 0',
      'ASR_FINAL 0',
      'NODE_ACCEPTED 0',
      'NMT_DONE 0',
    ]);
  });

  it('I5 order: a language waits for its earlier utterances, not for other languages', () => {
    const { rig, client } = speaking(['one', 'two']);
    rig.plans.plan('two').finish('es');
    rig.plans.plan('two').finish('fr');
    rig.plans.plan('one').finish('fr');
    expect(client.link.outcomes()).toEqual(['0 fr/text:one', '1 fr/text:two']);
    rig.plans.plan('one').finish('es');
    expect(client.link.outcomes().slice(2)).toEqual(['0 es/text:one', '1 es/text:two']);
  });

  it('a gap is closed in its language only, and cancels only that part', async () => {
    const { rig, client } = speaking(['one', 'two']);
    rig.plans.plan('two').finish('es');
    await rig.clock.advance(10_000);
    expect(client.link.outcomes()).toEqual(['0 es/text!gap_timeout', '1 es/text:two']);
    expect(rig.plans.plan('one').cancelled).toEqual(['RESULT_TIMEOUT es/text']);
    rig.plans.plan('one').finish('fr');
    expect(client.link.outcomes()[2]).toBe('0 fr/text:one');
  });

  it('a failed text is one error for its text and voice; the others arrive', () => {
    const { rig, client } = speaking(['one']);
    const plan = rig.plans.plan();
    plan.fail('es');
    plan.fail('es', 'voice');
    plan.finish('fr');
    expect(client.link.of('error')).toHaveLength(1);
    expect(client.link.of('error')[0]).toMatchObject({
      code: 'PROCESSING_ERROR',
      details: { utterance_index: 0, tgt_lang: 'es' },
    });
    expect(client.link.outcomes()).toEqual([
      '0 es/text!job_failed',
      '0 es/voice!job_failed',
      '0 fr/text:one',
    ]);
  });

  it('a failed voice is an error of its own after its text', () => {
    const { rig, client } = speaking(['one']);
    const plan = rig.plans.plan();
    plan.finish('es');
    plan.fail('es', 'voice', 'TTS_TIMEOUT');
    expect(client.link.of('error').map(({ code }) => code)).toEqual(['TTS_TIMEOUT']);
    expect(client.link.outcomes()).toEqual(['0 es/text:one', '0 es/voice!job_failed']);
  });

  it('I3 one outcome: a repeat is a new try only after all outcomes were acknowledged', () => {
    const rig = createSessionRig();
    const client = rig.open(several());
    client.utter('one', { requestId: 'r' });
    const plan = rig.plans.plan();
    plan.fail('es');
    client.send({ kind: 'acknowledged', deliverySeq: 1 });
    client.utter('one', { requestId: 'r' });
    expect(rig.plans.plans).toHaveLength(1);
    plan.fail('es', 'voice');
    plan.finish('fr');
    client.send({ kind: 'acknowledged', deliverySeq: 3 });
    client.utter('one', { requestId: 'r' });
    expect(rig.plans.plans).toHaveLength(2);
  });

  it('silence has one missing outcome for each part and no error', () => {
    const { rig, client } = speaking(['']);
    expect(rig.plans.plans).toEqual([]);
    client.speak('hm');
    const plan = rig.plans.plan();
    for (const [language, kind] of [
      ['es', 'text'],
      ['fr', 'text'],
      ['es', 'voice'],
    ] as const)
      plan.silence(language, kind);
    expect(client.link.outcomes()).toEqual([
      '0 es/text!silence_detected',
      '0 fr/text!silence_detected',
      '0 es/voice!silence_detected',
    ]);
    expect(client.link.of('error')).toEqual([]);
  });

  it('counts as one running utterance until its last outcome', () => {
    const rig = createSessionRig({ settings: { maxUtterances: 1 } });
    const { client } = speaking(['one'], rig);
    rig.plans.plan().finish('es');
    rig.plans.plan().finish('fr');
    client.speak('two');
    expect(client.link.of('error').map(({ code }) => code)).toContain('RATE_LIMITED');
    rig.plans.plan().finish('es', 'voice');
    client.speak('three');
    expect(rig.plans.plan().text).toBe('three');
    expect(rig.service.list({ limit: 1 }).sessions[0]).toMatchObject({ running: 1 });
  });

  it('holds its audio budget until its last outcome', () => {
    const { rig } = speaking(['four']);
    const bytes = () => rig.service.list({ limit: 1 }).sessions[0]?.audioBytes;
    expect(bytes()).toBe(4);
    rig.plans.plan().finish('es');
    rig.plans.plan().finish('es', 'voice');
    expect(bytes()).toBe(4);
    rig.plans.plan().finish('fr');
    expect(bytes()).toBe(0);
  });

  it('is cancelled as a whole when its session ends', () => {
    const rig = createSessionRig({ settings: { resumeTtlMs: 0 } });
    const { client } = speaking(['one'], rig);
    rig.plans.plan().finish('fr');
    client.leave();
    expect(rig.plans.plan().cancelled).toEqual(['SESSION_CLOSED es/text', 'SESSION_CLOSED es/voice']);
    expect(rig.service.counts()).toMatchObject({ sessions: 0, watched: 0 });
  });

  it('its jobs may be erased when the client has every outcome for good', () => {
    const { rig, client } = speaking(['one']);
    const plan = rig.plans.plan();
    plan.place({ language: 'es', kind: 'text' });
    plan.finish('es');
    plan.finish('fr');
    client.send({ kind: 'acknowledged', deliverySeq: 2 });
    expect(rig.delivered).toEqual([]);
    plan.finish('es', 'voice');
    client.send({ kind: 'acknowledged', deliverySeq: 3 });
    const name = plan.request.name;
    expect(rig.delivered).toEqual([
      `job-${name}/source`,
      `job-${name}/text:es`,
      `job-${name}/text:fr`,
      `job-${name}/voice:es`,
    ]);
  });

  it('erasing one of its jobs removes all its kept outcomes', () => {
    const { rig, client } = speaking(['one']);
    const plan = rig.plans.plan();
    plan.finish('es');
    plan.finish('fr');
    client.leave();
    const erased = `job-${plan.request.name}/text:es`;
    expect(rig.service.erase({ sessionId: client.sessionId, jobId: erased })).toBe(true);
    expect(client.resume().link.outcomes()).toEqual(['0 es/text!job_failed', '0 fr/text!job_failed']);
  });

  it('unacknowledged outcomes are sent again after a resume, with their numbers', () => {
    const { rig, client } = speaking(['one']);
    rig.plans.plan().finish('fr');
    rig.plans.plan().finish('es');
    client.leave();
    const again = client.resume();
    expect(again.link.of('outcome').map(({ delivered }) => delivered.deliverySeq)).toEqual([1, 2]);
    rig.plans.plan().finish('es', 'voice');
    expect(again.link.outcomes()).toEqual(['0 fr/text:one', '0 es/text:one', '0 es/voice:one']);
  });

  it('I11: an overfull language closes its own gap', () => {
    const rig = createSessionRig({ settings: { delivery: { ...DELIVERY, maxPendingResults: 2 } } });
    const { client } = speaking(['one', 'two', 'three', 'four'], rig);
    for (const text of ['two', 'three', 'four']) rig.plans.plan(text).finish('fr');
    expect(client.link.outcomes()).toEqual([
      '0 fr/text!pending_overflow_evict',
      '1 fr/text:two',
      '2 fr/text:three',
      '3 fr/text:four',
    ]);
  });
});

const DELIVERY = {
  gapTimeoutMs: 10_000,
  gapMaxMs: 30_000,
  maxPendingResults: 32,
  maxPendingBytes: 1_000_000,
  maxResultBytes: 1_000_000,
  maxKeptResults: 256,
};
