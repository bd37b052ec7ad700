/** Questions that are asked directly: without a message, and by message if that cannot be had or nothing comes of it. */
import { describe, expect, it } from 'vitest';
import { Unsent } from '../../src/cluster/messaging/message-bus.ts';
import type { DirectAnswer, DirectLine } from '../../src/ports/direct-line.ts';
import { startPost } from './post-rig.ts';

const LIMIT_MS = 3_000;
const question = (body: unknown) => ({ topic: 'question', lane: 'job-1', body, isDirect: true });

async function startTwo() {
  const post = startPost();
  const state = {
    /** What becomes of an answer on its way back. */
    bring: (text: string | undefined): DirectAnswer =>
      text === undefined ? { kind: 'busy' } : { kind: 'answered', text },
    /** Instead of asking. */
    instead: undefined as DirectAnswer | undefined,
    asked: 0,
  };
  const line: DirectLine = {
    async ask(_at, text) {
      state.asked += 1;
      return state.instead ?? state.bring(await you.bus.answer(text));
    },
    close() {},
  };
  const me = await post.join('me', { line });
  const you = await post.join('you', { line });
  const heard: unknown[] = [];
  you.bus.on('question', async (body, from) => {
    heard.push([body, from]);
    return { echo: body, time: heard.length };
  });
  const ask = (body: unknown): Promise<unknown> =>
    me.bus.ask('you', question(body), LIMIT_MS).catch((fault: unknown) => fault);
  return { ...post, state, me, you, heard, ask };
}

describe('a question that is asked directly', () => {
  it('writes no message, and asks nothing of the store', async () => {
    const { ask, me, heard, sent, settle, clock } = await startTwo();
    const asked = ask({ text: '“quoted” 你好' });
    await settle();
    expect(await asked).toEqual({ echo: { text: '“quoted” 你好' }, time: 1 });
    expect(heard).toEqual([[{ text: '“quoted” 你好' }, 'me']]);
    expect(me.bus.asking()).toBe(0);
    await clock.advance(LIMIT_MS);
    expect(sent).toEqual([]);
  });

  it('is left to a message unless it says that it may be asked so', async () => {
    const { me, state, sent, settle } = await startTwo();
    const asked = me.bus.ask('you', { ...question(1), isDirect: false }, LIMIT_MS);
    await settle();
    expect(await asked).toEqual({ echo: 1, time: 1 });
    expect([state.asked, sent.length]).toEqual([0, 2]);
  });

  it.each(['busy', 'unreached', 'unclear'] as const)('is asked by letter when it is %s', async (kind) => {
    const { ask, state, sent, settle } = await startTwo();
    state.instead = { kind };
    const asked = ask(1);
    await settle();
    expect(await asked).toEqual({ echo: 1, time: 1 });
    expect(sent.map(({ to }) => to)).toEqual(['you', 'me']);
  });

  it.each(['', '{', 'null', '{}'])(
    'is asked by message when it is answered by nonsense: %j',
    async (text) => {
      const { ask, state, sent, settle } = await startTwo();
      state.instead = { kind: 'answered', text };
      const asked = ask(1);
      await settle();
      expect(await asked).toEqual({ echo: 1, time: 1 });
      expect(sent).toHaveLength(2);
    },
  );

  it('is handled once, though its answer was lost and it came again as a message', async () => {
    const { ask, state, heard, sent, settle } = await startTwo();
    state.bring = () => ({ kind: 'unclear' });
    const asked = ask(1);
    await settle();
    expect(await asked).toEqual({ echo: 1, time: 1 });
    expect([heard.length, sent.length]).toEqual([1, 2]);
  });

  it('is not said to be unsent if it may have been heard', async () => {
    const { ask, state, you, settle } = await startTwo();
    state.bring = () => {
      void you.die();
      return { kind: 'unclear' };
    };
    const asked = ask(1);
    await settle();
    const fault = await asked;
    expect(fault).toMatchObject({ code: 'SCHEDULER_DEPENDENCY_DOWN' });
    expect(fault).not.toBeInstanceOf(Unsent);
  });

  it('is unsent if nobody is there (I9)', async () => {
    const { ask, you, state, settle } = await startTwo();
    await you.die();
    const asked = ask(1);
    await settle();
    expect(await asked).toBeInstanceOf(Unsent);
    expect(state.asked).toBe(0);
  });

  it('is not asked by an instance that may have been taken for dead', async () => {
    const { ask, me, state, sent, settle } = await startTwo();
    me.state.isFenced = true;
    const asked = ask(1);
    await settle();
    expect(await asked).toMatchObject({ code: 'SCHEDULER_DEPENDENCY_DOWN' });
    expect([state.asked, sent]).toEqual([0, []]);
  });

  it('is not looked at by one that may have been taken for dead: as a message it waits there', async () => {
    const { ask, you, heard, sent, settle, clock } = await startTwo();
    you.state.isFenced = true;
    const asked = ask(1);
    await settle();
    expect(heard).toEqual([]);
    expect(sent.map(({ to }) => to)).toEqual(['you']);
    you.state.isFenced = false;
    await clock.advance(LIMIT_MS / 2);
    expect(await asked).toEqual({ echo: 1, time: 1 });
  });

  it('fails as its handler does', async () => {
    const { ask, you, sent, settle } = await startTwo();
    you.bus.on('question', async () => {
      throw new Error('not now');
    });
    const asked = ask(1);
    await settle();
    expect(await asked).toMatchObject({ code: 'INTERNAL_ERROR', message: 'not now' });
    expect(sent).toEqual([]);
  });

  it('ends at its limit, however long the line takes', async () => {
    const { ask, state, me, clock, sent } = await startTwo();
    state.instead = new Promise(() => {}) as unknown as DirectAnswer;
    const asked = ask(1);
    await clock.advance(LIMIT_MS);
    expect(await asked).toMatchObject({ code: 'SCHEDULER_DEPENDENCY_DOWN' });
    expect([me.bus.asking(), sent]).toEqual([0, []]);
  });

  it('I11 bounded: what was answered is remembered for a while only', async () => {
    const { you, heard } = await startTwo();
    const asking = (ask: string): string => JSON.stringify({ topic: 'question', from: 'me', ask, body: ask });
    const asLetter = (ask: string): Promise<void> => you.bus.receive(`job-1 ${asking(ask)}`);
    await you.bus.answer(asking('first'));
    await asLetter('first');
    expect(heard).toHaveLength(1);
    for (let at = 0; at < 10_000; at += 1) await you.bus.answer(asking(`${at}`));
    await asLetter('first');
    expect(heard).toHaveLength(10_002);
  });
});
