/** Streaming by the legacy web client: chunks, finals that overtake them, sequence numbers, and backpressure. */
import { describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { connectLegacyNode, type LegacyNodeOptions, TRANSLATED } from './support/legacy-node.ts';
import { sessionUrl } from './support/session-client.ts';
import { QUICK, SHORT_PAUSE } from './support/session-settings.ts';
import { type Settings, startApp } from './support/start-app.ts';
import { openWebClient, opus } from './support/web-client.ts';

async function startStream(settings: Settings, answer?: LegacyNodeOptions['answer']) {
  const app = await startApp(settings);
  const node = connectLegacyNode({ url: app.nodeUrl, ...(answer && { answer }) });
  await app.readyNodes(1);
  const url = sessionUrl(app);
  return { app, node, url, web: await openWebClient({ url }) };
}

const audioOf = ({ audio }: { readonly audio: string }): Buffer => Buffer.from(audio, 'base64');

describe('is_final of the legacy web client', () => {
  it('audio within 300 ms after a final joins the sealed utterance', async () => {
    // Default settings, nothing is shortened.
    const { node, web } = await startStream({});
    web.speak(1);
    web.letGo();
    web.speak(2);
    web.speak(3);
    const job = await node.job();
    expect(audioOf(job).equals(Buffer.concat([opus(1), opus(2), opus(3)]))).toBe(true);
    expect(
      web.of('ui_event').find(({ event }) => event === 'INPUT_ENDED')?.elapsed_ms,
    ).toBeGreaterThanOrEqual(300);
  });

  it('later audio belongs to the next utterance', async () => {
    const { node, web } = await startStream(QUICK);
    web.speak(1);
    web.letGo();
    await eventually(() => web.uiEvents(0).includes('INPUT_ENDED'));
    web.speak(2);
    web.letGo();
    await web.outcome(2);
    expect(node.jobs.map((job) => audioOf(job)[2])).toEqual([1, 2]);
  });

  it('a final before the only chunk ends nothing; the pause does', async () => {
    const { node, web } = await startStream(SHORT_PAUSE);
    web.letGo();
    web.speak(1);
    expect(audioOf(await node.job()).equals(opus(1))).toBe(true);
    expect((await web.outcome()).utterance_index).toBe(0);
  });

  it('a final during a PAUSE overtakes audio, which becomes the next utterance', async () => {
    const { node, web } = await startStream(SHORT_PAUSE);
    web.speak(1);
    web.letGo();
    await web.outcome(1);
    web.speak(2);
    await web.outcome(2);
    expect(node.jobs.map((job) => audioOf(job)[2])).toEqual([1, 2]);
  });
});

describe('seq of the legacy web client', () => {
  it.each([0, 1, 4_711, Number.MAX_SAFE_INTEGER - 3])('seq may begin with %d', async (seq) => {
    const { url } = await startStream(QUICK);
    const web = await openWebClient({ url, seq });
    web.speak();
    web.letGo();
    expect(await web.outcome()).toMatchObject({ type: 'translation_result', utterance_index: 0 });
  });

  it('seq continues across a reconnect, which is a new session', async () => {
    const { url, web } = await startStream(QUICK);
    web.speak();
    web.letGo();
    await web.outcome();
    web.cut();
    const again = await openWebClient({ url, seq: web.seq() });
    expect(again.sessionId()).not.toBe(web.sessionId());
    again.speak();
    again.letGo();
    expect(await again.outcome()).toMatchObject({ session_id: again.sessionId(), utterance_index: 0 });
  });

  it('audio with repeated or decreasing seq is accepted', async () => {
    const { node, web } = await startStream(QUICK);
    for (const seq of [5, 5, 3]) {
      const payload = opus(seq).toString('base64');
      web.send({ type: 'audio_chunk', session_id: web.sessionId(), seq, is_final: false, payload });
    }
    web.letGo();
    expect(audioOf(await node.job()).equals(Buffer.concat([opus(5), opus(5), opus(3)]))).toBe(true);
  });
});

describe('results for the legacy web client', () => {
  it('the first utterance_index of a session is the time in tenths of seconds, modulo 10⁷', async () => {
    const { url } = await startStream({ ...QUICK, 'session.utterance_index_base': 'time' });
    const tenths = (): number => Math.floor(Date.now() / 100);
    const before = tenths();
    const web = await openWebClient({ url });
    const elapsed = tenths() - before;
    for (const count of [1, 2]) {
      web.speak();
      web.letGo();
      await web.outcome(count);
    }
    const [first = 0, second] = web.outcomes().map(({ utterance_index }) => utterance_index as number);
    expect((first - (before % 1e7) + 1e7) % 1e7).toBeLessThanOrEqual(elapsed);
    expect(second).toBe(first + 1);
  });

  it('a result that the node sends twice arrives once', async () => {
    const { node, web } = await startStream(QUICK, (job, self) => {
      self.reply(job, TRANSLATED);
      return TRANSLATED;
    });
    for (const count of [1, 2, 3]) {
      web.speak();
      web.letGo();
      await web.outcome(count);
    }
    await web.handled();
    expect(node.jobs).toHaveLength(3);
    expect(web.outcomes().map(({ utterance_index }) => utterance_index)).toEqual([0, 1, 2]);
  });

  it('results of a lost connection are not delivered to the next one', async () => {
    const { node, url, web } = await startStream(QUICK, () => undefined);
    web.speak();
    web.letGo();
    const job = await node.job();
    web.cut();
    const again = await openWebClient({ url });
    await node.next('job_cancel');
    node.reply(job, TRANSLATED);
    again.speak();
    again.letGo();
    node.reply(await node.job(2), TRANSLATED);
    await again.outcome();
    await again.handled();
    expect(again.outcomes()).toHaveLength(1);
  });
});

describe('backpressure for the legacy web client', () => {
  it('the client gets only PAUSE, at least 500 ms apart', async () => {
    const { web } = await startStream(
      {
        ...QUICK,
        'session.max_utterances': 20,
        'scheduler.backpressure.slow_down_percent': 5,
        'scheduler.backpressure.pause_percent': 10,
        'scheduler.backpressure.resume_after_ms': 100,
        'scheduler.legacy_node_slots': 1,
      },
      () => undefined,
    );
    const startedAt = performance.now();
    // The client ignores PAUSE, so each step is a reason for another one.
    await eventually(() => {
      web.speak();
      web.letGo();
      return web.of('backpressure').length >= 3;
    });
    for (const received of web.of('backpressure'))
      expect(received).toMatchObject({ action: 'PAUSE', resume_after_ms: 100 });
    // The send times count; a busy machine may receive two at once, but never more than the time allows.
    const mostByNow = 1 + (performance.now() - startedAt) / 480;
    expect(web.of('backpressure').length).toBeLessThanOrEqual(mostByNow);
    expect(web.alerts()).toEqual([]);
  });
});
