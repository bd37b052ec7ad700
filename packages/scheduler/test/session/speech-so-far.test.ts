/** Texts while somebody speaks: jobs of low priority over the audio so far, one at a time. */
import { describe, expect, it } from 'vitest';
import { settled } from './support/scripted-dispatcher.ts';
import { createSessionRig, opening, speech } from './support/session-rig.ts';

function speaking({
  isWanted = true,
  abilities = true,
  targets = undefined as readonly { language: string; isVoiceWanted: boolean }[] | undefined,
} = {}) {
  const rig = createSessionRig();
  const given = opening({
    speech: speech({ enableStreamingAsr: isWanted, partialUpdateIntervalMs: 1_000, targets }),
  });
  const client = rig.open(abilities ? given : { ...given, abilities: undefined });
  const say = async (text: string, ms = 600): Promise<void> => {
    client.say(text);
    await rig.clock.advance(ms);
  };
  const texts = () =>
    client.link
      .of('partial')
      .map(({ about, text, revision, language = '' }) =>
        `${about.index} ${text} ${revision} ${language}`.trim(),
      );
  const requested = (stage: 'asr' | 'nmt') =>
    rig.dispatcher.jobs.filter(({ request }) => request.spec.stages?.includes(stage));
  return { rig, client, say, texts, requested };
}

type Speaking = ReturnType<typeof speaking>;

/** A node answers the newest job of the stage. */
async function answer({ requested }: Speaking, stage: 'asr' | 'nmt', text: string): Promise<void> {
  const job = requested(stage).at(-1);
  job?.admit();
  await job?.dispatch();
  job?.finish(stage === 'asr' ? { textAsr: text } : { textTranslated: text });
  await settled();
}

const recognise = (speaker: Speaking, text: string): Promise<void> => answer(speaker, 'asr', text);

describe('while somebody speaks', () => {
  it('the audio so far is recognised by a job of low priority, without waiting', async () => {
    const speaker = speaking();
    const { rig, say, texts } = speaker;
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
    await recognise(speaker, 'one two three');
    expect(texts()).toEqual(['0 one two three 1']);
  });

  it('there is one job at a time, and each text has a higher revision', async () => {
    const speaker = speaking();
    const { rig, say, texts, requested } = speaker;
    for (const text of ['a', 'b', 'c', 'd', 'e']) await say(text);
    expect(rig.dispatcher.jobs).toHaveLength(1);
    await recognise(speaker, 'abc');
    await say('f');
    expect(requested('asr')).toHaveLength(2);
    await recognise(speaker, 'abcdef');
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
    const speaker = speaking();
    const { client, say, texts } = speaker;
    for (const text of ['a', 'b', 'c']) await say(text);
    await recognise(speaker, 'abc');
    client.speak('.');
    for (const text of ['x', 'y', 'z']) await say(text);
    await recognise(speaker, 'xyz');
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

describe('what was recognised so far', () => {
  const sayUntilAsked = async ({ say }: Speaking): Promise<void> => {
    for (const text of ['a', 'b', 'c']) await say(text);
  };

  const sayMore = async ({ say }: Speaking): Promise<void> => {
    await say('x');
    await say('y');
  };

  it('is translated by a job of low priority, without waiting', async () => {
    const speaker = speaking();
    await sayUntilAsked(speaker);
    await recognise(speaker, 'abc');
    expect(speaker.requested('nmt').map(({ request }) => request)).toMatchObject([
      {
        waitMs: 0,
        priority: 'low',
        need: { isInterim: true, isPartial: true, isTextInput: true, usesAsr: false, usesNmt: true },
        spec: { stages: ['nmt'], isInterim: true, inputText: 'abc', targetLanguage: 'zh' },
      },
    ]);
    await answer(speaker, 'nmt', 'ABC');
    expect(speaker.texts()).toEqual(['0 abc 1', '0 ABC 1 zh']);
  });

  it('is translated at most every two seconds, and once at a time', async () => {
    const speaker = speaking();
    const inputs = () => speaker.requested('nmt').map(({ request }) => request.spec.inputText);
    await sayUntilAsked(speaker);
    await recognise(speaker, 'abc');
    await answer(speaker, 'nmt', 'ABC');
    await sayMore(speaker);
    await recognise(speaker, 'abcd');
    expect(inputs()).toEqual(['abc']);
    await sayMore(speaker);
    await recognise(speaker, 'abcde');
    expect(inputs()).toEqual(['abc', 'abcde']);
    for (const text of ['abcdef', 'abcdefg']) {
      await sayMore(speaker);
      await recognise(speaker, text);
    }
    expect(inputs()).toEqual(['abc', 'abcde']);
    await answer(speaker, 'nmt', 'ABCDE');
    expect(speaker.texts().filter((text) => text.endsWith('zh'))).toEqual(['0 ABC 1 zh', '0 ABCDE 3 zh']);
  });

  it('is translated into the languages in turn, and never into its own', async () => {
    const targets = ['de', 'en', 'fr'].map((language) => ({ language, isVoiceWanted: false }));
    const speaker = speaking({ targets });
    await sayUntilAsked(speaker);
    for (const text of ['abc', 'abcd', 'abcde']) {
      await recognise(speaker, text);
      await answer(speaker, 'nmt', text.toUpperCase());
      await sayMore(speaker);
    }
    expect(speaker.requested('nmt').map(({ request }) => request.spec.targetLanguage)).toEqual([
      'de',
      'fr',
      'de',
    ]);
  });

  it('is not translated while jobs wait for a slot', async () => {
    const speaker = speaking();
    await sayUntilAsked(speaker);
    speaker.rig.dispatcher.setWaiting(1);
    await recognise(speaker, 'abc');
    expect(speaker.requested('nmt')).toEqual([]);
  });

  it('its translation is cancelled at the end of the utterance, and its text dropped', async () => {
    const speaker = speaking();
    const { rig, client, texts } = speaker;
    await sayUntilAsked(speaker);
    await recognise(speaker, 'abc');
    const [translation] = speaker.requested('nmt');
    translation?.admit();
    await translation?.dispatch();
    client.speak('.');
    expect(rig.dispatcher.cancelled.map(({ jobId }) => jobId)).toEqual([translation?.jobId]);
    translation?.finish({ textTranslated: 'ABC' });
    expect(texts()).toEqual(['0 abc 1']);
  });
});
