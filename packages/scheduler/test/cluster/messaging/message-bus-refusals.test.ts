/** Messages that are not sent, and malformed messages. */
import { describe, expect, it } from 'vitest';
import { Unsent } from '../../../src/cluster/messaging/message-bus.ts';
import { SchedulerError } from '../../../src/domain/errors.ts';
import { isPending } from '../../contracts/harness.ts';
import { COMES_AGAIN_MS, startMessaging } from './message-bus-rig.ts';

const DOWN = { code: 'SCHEDULER_DEPENDENCY_DOWN' };
const LIMIT_MS = 3_000;
const MESSAGE = { topic: 'word', lane: 'job-1', body: 'hello' };

const outcomeOf = (requested: Promise<unknown>): Promise<unknown> =>
  requested.catch((fault: unknown) => fault);

describe('I9: nothing to the dead', () => {
  it('sends nothing to an unknown instance', async () => {
    const { join, inbox, sent } = startMessaging();
    const me = await join('me');
    await inbox.open('stranger');
    expect(await me.bus.send('stranger', MESSAGE)).toBe(false);
    expect(await outcomeOf(me.bus.request('stranger', MESSAGE, LIMIT_MS))).toBeInstanceOf(Unsent);
    expect(sent).toEqual([]);
    expect(me.counted('scheduler_cluster_messages_refused_total not_living')).toBe(2);
  });

  it('sends nothing to a dead instance whose inbox still exists', async () => {
    const { join, inbox } = startMessaging();
    const me = await join('me');
    const you = await join('you');
    expect(await me.bus.send('you', MESSAGE)).toBe(true);
    await you.die();
    const before = await inbox.size('you');
    expect(await me.bus.send('you', MESSAGE)).toBe(false);
    expect(await outcomeOf(me.bus.request('you', MESSAGE, LIMIT_MS))).toBeInstanceOf(Unsent);
    expect(await inbox.size('you')).toEqual(before);
  });

  it('sends no reply to an instance that died after its ask', async () => {
    const { join, sent, settle, isEmpty } = startMessaging();
    const me = await join('me');
    const you = await join('you');
    let answer: () => void = () => {};
    you.bus.on('word', () => new Promise<void>((resolve) => (answer = resolve)));
    const outcome = outcomeOf(me.bus.request('you', MESSAGE, LIMIT_MS));
    await settle();
    await me.die();
    answer();
    await settle();
    expect(sent.filter(({ to }) => to === 'me')).toEqual([]);
    expect(await isEmpty('you')).toBe(true);
    expect(await isPending(outcome)).toBe(true);
  });
});

describe('a fenced instance', () => {
  it('sends no messages and reads no membership', async () => {
    const { join, sent } = startMessaging();
    const me = await join('me');
    await join('you');
    me.state.isFenced = true;
    await expect(me.bus.send('you', MESSAGE)).rejects.toMatchObject(DOWN);
    await expect(me.bus.request('you', MESSAGE, LIMIT_MS)).rejects.toMatchObject(DOWN);
    expect(me.state.looks).toBe(0);
    expect(sent).toEqual([]);
    expect(me.bus.awaitedReplies()).toBe(0);
  });

  it('sends nothing if it froze during the membership read', async () => {
    const { join, sent } = startMessaging();
    const me = await join('me');
    await join('you');
    me.state.whileLooking = () => {
      me.state.isFenced = true;
    };
    await expect(me.bus.send('you', MESSAGE)).rejects.toMatchObject(DOWN);
    expect(sent).toEqual([]);
  });

  it('sends no reply; the message is retried when it is unfenced', async () => {
    const { join, clock, settle, isEmpty } = startMessaging();
    const me = await join('me');
    const you = await join('you');
    you.bus.on('word', async () => {
      you.state.isFenced = true;
      return 'said by one that may be dead';
    });
    const requested = me.bus.request('you', MESSAGE, 10 * COMES_AGAIN_MS);
    await settle();
    expect(await isPending(requested)).toBe(true);
    expect(await isEmpty('you')).toBe(false);
    you.bus.on('word', async () => 'said by one that lives');
    you.state.isFenced = false;
    await clock.advance(COMES_AGAIN_MS);
    expect(await requested).toBe('said by one that lives');
    expect(await isEmpty('you')).toBe(true);
  });
});

describe('a request is Unsent', () => {
  it.each(['full', 'gone'] as const)('when the inbox is %s, and the refusal is counted', async (reason) => {
    const { join, inbox } = startMessaging({ maxMessages: 1 });
    const me = await join('me');
    await join('you', { isReading: false });
    if (reason === 'full') await inbox.send('you', 'one');
    else await inbox.close('you');
    expect(await me.bus.send('you', MESSAGE)).toBe(false);
    const fault = await outcomeOf(me.bus.request('you', MESSAGE, LIMIT_MS));
    expect(fault).toBeInstanceOf(Unsent);
    expect(fault).toMatchObject(DOWN);
    expect(me.counted(`scheduler_cluster_messages_refused_total ${reason}`)).toBe(2);
    expect(me.bus.awaitedReplies()).toBe(0);
  });

  it.each(['throw', 'throw_after_effect'] as const)('never when sending failed (%s)', async (fault) => {
    const { join } = startMessaging();
    const me = await join('me');
    await join('you');
    me.connection.plan({ method: 'send', fault });
    const outcome = await outcomeOf(me.bus.request('you', MESSAGE, LIMIT_MS));
    expect(outcome).toMatchObject(DOWN);
    expect(outcome).not.toBeInstanceOf(Unsent);
    expect(me.bus.awaitedReplies()).toBe(0);
  });

  it('never when the receiver could not reach Redis', async () => {
    const { join, settle } = startMessaging();
    const me = await join('me');
    const you = await join('you');
    you.bus.on('word', async () => {
      throw new Unsent('somebody else');
    });
    const outcome = outcomeOf(me.bus.request('you', MESSAGE, LIMIT_MS));
    await settle();
    expect(await outcome).toMatchObject(DOWN);
    expect(await outcome).not.toBeInstanceOf(Unsent);
  });
});

describe('a malformed message', () => {
  const received = async (text: string): Promise<unknown> => {
    const me = await startMessaging().join('me');
    me.bus.on('word', async () => 'heard');
    return outcomeOf(me.bus.receive(text));
  };

  it.each([
    ['nothing', ''],
    ['no JSON', 'job-1 not json'],
    ['JSON that is cut', 'job-1 {"topic":"word","from":"you"'],
    ['no object', 'job-1 null'],
    ['no topic', 'job-1 {"from":"you","body":1}'],
    ['a topic of a newer version', 'job-1 {"topic":"dance","from":"you","body":1}'],
    ['a name every object has as its topic', 'job-1 {"topic":"constructor","from":"you","body":1}'],
    ['a reply to nothing', 'job-1 {"topic":"reply","from":"you","body":{"answer":1}}'],
  ])('is not handled: %s', async (_, text) => {
    expect(await received(text)).toBeInstanceOf(Error);
  });

  it('is handled if it only has unknown fields', async () => {
    expect(await received('job-1 {"topic":"word","from":"you","body":1,"since":"9.0"}')).toBeUndefined();
  });

  it.each([
    ['null', null],
    ['a number', 7],
    ['an empty object', {}],
    ['a word that only this side may say', { absent: 'you' }],
  ])('does not settle a request as its reply: %s', async (_, body) => {
    const { join, clock, settle } = startMessaging();
    const me = await join('me');
    await join('you', { isReading: false });
    const requested = me.bus.request('you', MESSAGE, LIMIT_MS);
    const outcome = outcomeOf(requested);
    await settle();
    const reply = JSON.stringify({ topic: 'reply', from: 'you', replyId: 'me:1', body });
    await expect(me.bus.receive(`me:1 ${reply}`)).rejects.toThrow();
    expect(await isPending(requested)).toBe(true);
    await clock.advance(LIMIT_MS);
    expect(await outcome).toMatchObject(DOWN);
    expect(await outcome).not.toBeInstanceOf(Unsent);
  });

  it('fails a request as INTERNAL_ERROR if its reply has an unknown code', async () => {
    const { join, settle } = startMessaging();
    const me = await join('me');
    await join('you', { isReading: false });
    const outcome = outcomeOf(me.bus.request('you', MESSAGE, LIMIT_MS));
    await settle();
    const body = { code: 'OUT_OF_COFFEE', message: 'no coffee' };
    await me.bus.receive(`me:1 ${JSON.stringify({ topic: 'reply', from: 'you', replyId: 'me:1', body })}`);
    expect(await outcome).toBeInstanceOf(SchedulerError);
    expect(await outcome).toMatchObject({ code: 'INTERNAL_ERROR', message: 'no coffee' });
  });
});
