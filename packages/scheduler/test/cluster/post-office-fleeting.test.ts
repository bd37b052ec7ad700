/** Questions that are soon outdated: asked and answered by hints, which write nothing, and by message if those are not heard. */
import { describe, expect, it } from 'vitest';
import { Unsent } from '../../src/cluster/messaging/message-bus.ts';
import { isPending } from '../contracts/harness.ts';
import { startPost } from './post-rig.ts';

const LIMIT_MS = 3_000;
/** By then what was not answered is asked by message. */
const UNHEARD_MS = 500;
const question = (body: unknown, lane = 'node-1') => ({ topic: 'question', lane, body, isFleeting: true });

async function startTwo() {
  const post = startPost();
  const me = await post.join('me');
  const you = await post.join('you');
  const heard: unknown[] = [];
  you.bus.on('question', async (body, from) => {
    heard.push([body, from]);
    return { echo: body };
  });
  const ask = (body: unknown, limitMs = LIMIT_MS, lane?: string): Promise<unknown> =>
    me.bus.ask('you', question(body, lane), limitMs).catch((fault: unknown) => fault);
  return { ...post, me, you, heard, ask };
}

describe('a question that is soon outdated', () => {
  it('is asked and answered without a message', async () => {
    const { ask, me, heard, sent, whispered, settle, clock } = await startTwo();
    const asked = ask({ text: '“quoted” 你好' });
    await settle();
    expect(await asked).toEqual({ echo: { text: '“quoted” 你好' } });
    expect(heard).toEqual([[{ text: '“quoted” 你好' }, 'me']]);
    expect(whispered.map(({ to }) => to)).toEqual(['you', 'me']);
    expect(me.bus.asking()).toBe(0);
    // Nor later: it was answered.
    await clock.advance(2 * UNHEARD_MS);
    expect(sent).toEqual([]);
  });

  it.each(['you', 'me'])('is asked by message when hints to %s are lost', async (deaf) => {
    const { ask, stopEars, settle, clock, sent } = await startTwo();
    stopEars(deaf);
    const asked = ask(1);
    await settle();
    expect(sent).toEqual([]);
    expect(await isPending(asked)).toBe(true);
    await clock.advance(UNHEARD_MS);
    expect(await asked).toEqual({ echo: 1 });
    expect(sent.map(({ to }) => to)).toEqual(['you', 'me']);
  });

  it('is asked by message in time, too, when little time is given', async () => {
    const { ask, stopEars, settle, clock } = await startTwo();
    stopEars('you');
    const asked = ask(1, UNHEARD_MS / 2);
    await clock.advance(UNHEARD_MS / 4);
    await settle();
    expect(await asked).toEqual({ echo: 1 });
  });

  it('goes to nobody who does not live (I9)', async () => {
    const { ask, you, whispered, sent, settle } = await startTwo();
    await you.die();
    const asked = ask(1);
    await settle();
    expect(await asked).toBeInstanceOf(Unsent);
    expect([whispered, sent]).toEqual([[], []]);
  });

  it('is not asked by an instance that may have been taken for dead, nor heard by one', async () => {
    const { ask, me, you, whispered, heard, clock, settle } = await startTwo();
    me.state.isFenced = true;
    const asked = ask(1);
    await settle();
    expect(await asked).toMatchObject({ code: 'SCHEDULER_DEPENDENCY_DOWN' });
    expect(whispered).toEqual([]);
    me.state.isFenced = false;
    you.state.isFenced = true;
    const again = ask(2);
    await clock.advance(LIMIT_MS);
    expect(heard).toEqual([]);
    expect(await again).toMatchObject({ code: 'SCHEDULER_DEPENDENCY_DOWN' });
  });

  it('fails as its handler does', async () => {
    const { ask, you, settle } = await startTwo();
    you.bus.on('question', async () => {
      throw new Error('not now');
    });
    const asked = ask(1);
    await settle();
    expect(await asked).toMatchObject({ code: 'INTERNAL_ERROR', message: 'not now' });
  });

  it('harms nobody when it makes no sense', async () => {
    const { you, heard } = await startTwo();
    for (const text of [
      '',
      'lane',
      'lane {',
      'lane null',
      'lane {"topic":"unheard of","from":"me","ask":"1"}',
    ])
      await you.bus.hear(text);
    expect(heard).toEqual([]);
  });

  it('waits as a message when very many are sent as a hint at a time (I11)', async () => {
    const { ask, you, sent, settle, clock } = await startTwo();
    const answers: (() => void)[] = [];
    you.bus.on('question', (body) => new Promise((resolve) => answers.push(() => resolve(body))));
    const many = 1_005;
    const asked = Array.from({ length: many }, (_, at) => ask(at, LIMIT_MS, `node-${at}`));
    await settle();
    expect(answers).toHaveLength(1_000);
    for (const answer of answers.splice(0)) answer();
    await settle();
    await clock.advance(UNHEARD_MS);
    expect(sent.filter(({ to }) => to === 'you')).toHaveLength(5);
    for (const answer of answers.splice(0)) answer();
    await settle();
    expect(await Promise.all(asked)).toEqual(Array.from({ length: many }, (_, at) => at));
  });
});
