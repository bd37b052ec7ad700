import { describe, expect, it } from 'vitest';
import type { SessionLink } from '../../src/session/output.ts';
import {
  createSessionRig,
  languages,
  legacyOpening,
  opening,
  openNow,
  PRESSURE,
  speech,
} from './support/session-rig.ts';

/** The rig's clock starts at a multiple of the 10,000,000 tenths of seconds after which indexes start again. */
const MORE_THAN_A_SPAN_MS = 1_000_007_000;

describe('bounded memory of a session', () => {
  it('a session remembers its last 64 request ids', async () => {
    const { open, dispatcher } = createSessionRig();
    const client = open();
    for (let count = 0; count <= 64; count += 1) {
      client.utter(`${count}`, { requestId: `r${count}` });
      await dispatcher.job().succeed();
    }
    const jobs = dispatcher.jobs.length;
    client.utter('64', { requestId: 'r64' });
    expect(dispatcher.jobs).toHaveLength(jobs);
    client.utter('0', { requestId: 'r0' });
    expect(dispatcher.jobs).toHaveLength(jobs + 1);
  });

  it('a session remembers the last eight playable groups', async () => {
    const { open, dispatcher, clock } = createSessionRig();
    const client = open();
    for (let count = 0; count < 9; count += 1) {
      client.speak(`${count}`);
      await dispatcher.job().succeed();
      await clock.advance(5_000);
    }
    const groups = client.link.of('outcome').map(({ delivered }) => delivered.utterance.groupId);
    const played = () => client.link.of('ui_event').filter(({ event }) => event === 'TTS_PLAY_STARTED');
    client.send({ kind: 'playback_started', groupId: groups[0] ?? '' });
    expect(played()).toEqual([]);
    client.send({ kind: 'playback_started', groupId: groups[1] ?? '' });
    expect(played()).toMatchObject([{ about: { index: 1 } }]);
  });

  it('the client-to-scheduler delay is sent with the result', async () => {
    const { open, dispatcher, clock } = createSessionRig();
    const client = open();
    client.say('a', { clientTimestampMs: clock.now() - 40, isFinal: true, requestId: 'r' });
    await dispatcher.job().succeed();
    expect(client.link.of('outcome')).toMatchObject([{ webToSchedulerMs: 40 }]);
  });
});

describe('job requests of a session', () => {
  it('an utterance is dispatched although sending to the client fails', async () => {
    const { service, dispatcher } = createSessionRig();
    const broken: SessionLink = {
      send(_sessionId, output) {
        if (output.kind === 'ui_event') throw new Error('the connection broke');
      },
      replaced() {},
      abandoned() {},
    };
    const sessionId = openNow(service, opening(), broken);
    const spoken = { kind: 'chunk', seq: 0, audio: Buffer.from('a'), isFinal: true, requestId: 'r' } as const;
    service.receive(sessionId, 'anybody', spoken);
    expect(dispatcher.jobs).toHaveLength(1);
  });

  it('padding and cut reason follow the end of the utterance', async () => {
    const { open, dispatcher, clock } = createSessionRig();
    const client = open();
    client.speak('manual');
    expect(dispatcher.job().request.spec).toMatchObject({ cut: 'manual', paddingMs: 280 });
    client.say('pause');
    await clock.advance(1_150);
    expect(dispatcher.job().request.spec).toMatchObject({ cut: 'pause', paddingMs: 220 });
    client.utter('given', { isManualCut: false });
    expect(dispatcher.job().request.spec).toMatchObject({ cut: 'pause', paddingMs: 220 });
    expect(dispatcher.job().request.waitMs).toBe(10_000);
  });

  it('parts of an over-long utterance share a turn id', async () => {
    const segmentation = {
      pauseMs: 1_000,
      maxDurationMs: 0,
      maxBytes: 4,
      playbackMaxMs: 0,
      hangoverAutoMs: 0,
      hangoverManualMs: 0,
      lateAudioMs: 0,
    };
    const { open, dispatcher, clock, counts } = createSessionRig({ settings: { segmentation } });
    const client = open();
    client.say('aaaa');
    client.say('bbbb');
    await clock.advance(1_000);
    client.say('cccc', { isFinal: true });
    const turns = dispatcher.jobs.map(({ request }) => request.spec.turnId);
    expect(turns[0]).toBe(turns[1]);
    expect(turns[2]).not.toBe(turns[1]);
    expect(turns[0]).toContain(client.sessionId);
    expect(
      ['max_bytes', 'pause', 'send'].map((one) => counts.get(`scheduler_web_task_finalized_total ${one}`)),
    ).toEqual([1, 1, 1]);
  });

  it('utterance indexes never repeat, whatever the client sends', () => {
    const { open, dispatcher } = createSessionRig();
    const client = open();
    client.utter('a', { index: 0 });
    client.utter('b', { index: 0 });
    client.utter('c', { index: 9 });
    client.speak('d');
    expect(dispatcher.jobs.map(({ request }) => request.spec.utteranceIndex)).toEqual([0, 1, 9, 10]);
  });

  it('after a reconnect a legacy client gets higher indexes, tenths of seconds', async () => {
    const { open, dispatcher, clock } = createSessionRig();
    await clock.advance(MORE_THAN_A_SPAN_MS);
    for (let session = 0; session < 2; session++) {
      const client = open(legacyOpening());
      // Silence with a final for nearly every chunk: four in a second.
      for (const text of ['a', 'b', 'c', 'd']) client.speak(text);
      client.leave();
      await clock.advance(1_000);
    }
    const indexes = dispatcher.jobs.map(({ request }) => request.spec.utteranceIndex);
    expect(indexes).toEqual([70, 71, 72, 73, 80, 81, 82, 83]);
  });

  it('a legacy client that numbers its utterances keeps its numbers', async () => {
    const { open, dispatcher, clock } = createSessionRig();
    await clock.advance(MORE_THAN_A_SPAN_MS);
    const client = open(legacyOpening());
    client.utter('a', { index: 0 });
    client.utter('b', { index: 1 });
    expect(dispatcher.jobs.map(({ request }) => request.spec.utteranceIndex)).toEqual([0, 1]);
  });

  it('a client that can resume starts at index 0', async () => {
    const { open, dispatcher, clock } = createSessionRig();
    await clock.advance(MORE_THAN_A_SPAN_MS);
    open().speak('a');
    expect(dispatcher.job().request.spec.utteranceIndex).toBe(0);
  });

  it('the first index is random if configured', () => {
    const numbers = [0, 0.25, 0.999].map((chance) => {
      const { open, dispatcher } = createSessionRig({
        settings: { indexBase: 'random' },
        chance: () => chance,
      });
      open(legacyOpening()).utter('a');
      return dispatcher.job().request.spec.utteranceIndex;
    });
    expect(numbers).toEqual([0, 2 ** 29, Math.floor(0.999 * 2 ** 31)]);
  });

  it('open chunks come before a whole utterance', () => {
    const { open, dispatcher } = createSessionRig();
    const client = open();
    client.say('spoken');
    client.utter('whole');
    expect(dispatcher.jobs.map(({ text }) => text)).toEqual(['spoken', 'whole']);
    expect(dispatcher.jobs[0]?.request.spec.cut).toBe('manual');
  });

  it('a session keeps its pool while the languages stay the same', () => {
    let asked = 0;
    const pools = { edition: 1, preferred: () => ++asked };
    const { open, dispatcher } = createSessionRig({ pools });
    const client = open();
    const other = speech({ languages: languages({ src_lang: 'de', tgt_lang: 'en' }) });
    client.speak('a');
    client.speak('b');
    client.utter('c', { speech: other });
    client.speak('d');
    expect(dispatcher.jobs.map(({ request }) => request.need.preferredPoolId)).toEqual([1, 1, 2, 3]);
  });

  for (const waiting of [4, 5, 6]) {
    it(`backpressure counts ${waiting} utterances without a slot`, async () => {
      const { open, dispatcher, clock } = createSessionRig({ settings: { pressure: PRESSURE } });
      const client = open();
      client.speak('done');
      await dispatcher.job().succeed();
      for (let count = 0; count < waiting; count++) client.speak(`waits ${count}`);
      await clock.advance(1_000);
      client.send({ kind: 'heartbeat' });
      expect(client.link.of('pressure').map(({ action }) => action)).toEqual(['SLOW_DOWN']);
    });
  }

  it('events during the end message are ignored', () => {
    const { service, audio, dispatcher } = createSessionRig();
    const chunk = { kind: 'chunk', seq: 0, audio: Buffer.from('a'), isFinal: false } as const;
    const link: SessionLink = {
      send(id, { kind }) {
        if (kind === 'closed') service.receive(id, 'anybody', chunk);
      },
      replaced() {},
      abandoned() {},
    };
    service.receive(openNow(service, opening(), link), 'anybody', { kind: 'close' });
    expect(service.counts().sessions).toBe(0);
    expect(audio.size()).toBe(0);
    expect(dispatcher.jobs).toEqual([]);
  });

  it('two jobs never have the same id', async () => {
    const { open, dispatcher, clock } = createSessionRig();
    const client = open();
    for (let count = 0; count < 20; count++) {
      client.say(`${count}`, count % 2 === 0 ? { isFinal: true, requestId: 'same' } : {});
      await clock.advance(1_200);
    }
    const names = dispatcher.jobs.map(({ jobId }) => jobId);
    expect(new Set(names).size).toBe(names.length);
  });

  it('audio is counted once when its job takes it over', async () => {
    const { open, dispatcher, audio, service } = createSessionRig();
    const client = open();
    client.say('12345');
    expect(audio.size()).toBe(5);
    client.say('678', { isFinal: true, requestId: 'r' });
    expect(audio.size()).toBe(8);
    expect(service.list({ limit: 10 }).sessions).toMatchObject([{ audioBytes: 8, running: 1 }]);
    await dispatcher.job().succeed();
    expect(audio.size()).toBe(0);
    expect(service.list({ limit: 10 }).sessions).toMatchObject([{ audioBytes: 0, running: 0 }]);
  });
});

describe('connection counts', () => {
  it('a connection that breaks during a send is counted once', async () => {
    const { service, dispatcher } = createSessionRig();
    const link: SessionLink = {
      send(id, output) {
        if (output.kind === 'outcome') service.left(id, link);
      },
      replaced() {},
      abandoned() {},
    };
    const sessionId = openNow(service, opening(), link);
    const chunk = { kind: 'chunk', seq: 0, audio: Buffer.from('a'), isFinal: true, requestId: 'r' } as const;
    service.receive(sessionId, 'anybody', chunk);
    service.receive(sessionId, 'anybody', { kind: 'close' });
    await dispatcher.job().succeed();
    expect(service.counts()).toEqual({ sessions: 0, connected: 0, watched: 0, resultBytes: 0 });
  });

  it('a connection whose end is reported twice is counted once', () => {
    const { open, service } = createSessionRig();
    const client = open();
    open();
    client.leave();
    client.leave();
    expect(service.counts()).toMatchObject({ sessions: 2, connected: 1 });
  });
});
