/** Texts while somebody speaks: jobs of low priority over the audio so far, one at a time. */
import { describe, expect, it } from 'vitest';
import { createSessionRig, opening, speech } from './support/session-rig.ts';

function speaking({ isWanted = true, abilities = true } = {}) {
  const rig = createSessionRig();
  const given = opening({ speech: speech({ enableStreamingAsr: isWanted, partialUpdateIntervalMs: 1_000 }) });
  const client = rig.open(abilities ? given : { ...given, abilities: undefined });
  const say = async (text: string, ms = 600): Promise<void> => {
    client.say(text);
    await rig.clock.advance(ms);
  };
  const texts = () =>
    client.link.of('partial').map(({ about, text, revision }) => `${about.index} ${text} ${revision}`);
  return { rig, client, say, texts };
}

/** The node answers the newest job. */
async function recognise({ dispatcher }: ReturnType<typeof speaking>['rig'], text: string): Promise<void> {
  const job = dispatcher.job();
  job.admit();
  await job.dispatch();
  job.finish({ textAsr: text });
  await Promise.resolve();
}

describe('while somebody speaks', () => {
  it('the audio so far is recognised by a job of low priority, without waiting', async () => {
    const { rig, say, texts } = speaking();
    await say('one ');
    await say('two ');
    expect(rig.dispatcher.jobs).toEqual([]);
    await say('three ');
    const { request, text } = rig.dispatcher.job();
    expect(text).toBe('one two three ');
    expect(request).toMatchObject({
      waitMs: 0,
      priority: 'low',
      need: { isInterim: true, isPartial: true, usesAsr: true, usesNmt: false },
      spec: { stages: ['asr'], isInterim: true },
    });
    expect(request.requestId).toBeUndefined();
    await recognise(rig, 'one two three');
    expect(texts()).toEqual(['0 one two three 1']);
  });

  it('there is one job at a time, and each text has a higher revision', async () => {
    const { rig, say, texts } = speaking();
    for (const text of ['a', 'b', 'c', 'd', 'e']) await say(text);
    expect(rig.dispatcher.jobs).toHaveLength(1);
    await recognise(rig, 'abc');
    await say('f');
    expect(rig.dispatcher.jobs).toHaveLength(2);
    await recognise(rig, 'abcdef');
    expect(texts()).toEqual(['0 abc 1', '0 abcdef 2']);
  });

  it('a refused job changes nothing, and the next one is tried later', async () => {
    const { rig, say, texts } = speaking();
    for (const text of ['a', 'b', 'c']) await say(text);
    await rig.dispatcher.job().refuse('NO_CAPABLE_NODE');
    expect(rig.dispatcher.jobs).toHaveLength(1);
    await say('d');
    expect(rig.dispatcher.jobs).toHaveLength(1);
    await say('e');
    expect(rig.dispatcher.jobs).toHaveLength(2);
    expect(texts()).toEqual([]);
  });

  it('the end of the utterance cancels the job, and its text is dropped', async () => {
    const { rig, client, say, texts } = speaking();
    for (const text of ['a', 'b', 'c']) await say(text);
    const interim = rig.dispatcher.job();
    interim.admit();
    await interim.dispatch();
    client.speak('.');
    expect(rig.dispatcher.cancelled.map(({ jobId }) => jobId)).toEqual([interim.jobId]);
    interim.finish({ textAsr: 'abc' });
    expect(texts()).toEqual([]);
    expect(rig.dispatcher.job().request.spec.isInterim).toBeUndefined();
  });

  it('the next utterance begins with revision 1 again', async () => {
    const { rig, client, say, texts } = speaking();
    for (const text of ['a', 'b', 'c']) await say(text);
    await recognise(rig, 'abc');
    client.speak('.');
    for (const text of ['x', 'y', 'z']) await say(text);
    await recognise(rig, 'xyz');
    expect(texts()).toEqual(['0 abc 1', '1 xyz 1']);
  });

  it('nothing is asked while jobs wait for a slot', async () => {
    const { rig, say } = speaking();
    rig.dispatcher.setWaiting(1);
    for (const text of ['a', 'b', 'c']) await say(text);
    expect(rig.dispatcher.jobs).toEqual([]);
  });

  it.each([
    ['that did not ask for it', { isWanted: false }],
    ['of an older protocol', { abilities: false }],
  ])('a client %s gets none', async (_, options) => {
    const { rig, say } = speaking(options);
    for (const text of ['a', 'b', 'c']) await say(text);
    expect(rig.dispatcher.jobs).toEqual([]);
  });

  it('a job whose end is never heard of does not block the next one', async () => {
    const { rig, say } = speaking();
    for (const text of ['a', 'b', 'c']) await say(text);
    for (let at = 0; at < 12; at += 1) await say('d');
    expect(rig.dispatcher.jobs).toHaveLength(2);
  });
});
