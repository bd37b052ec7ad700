/** Messages between instances: sent with and without a reply, and what happens when the receiver is missing. */
import { describe, expect, it } from 'vitest';
import { laneOf, Unsent } from '../../../src/cluster/messaging/message-bus.ts';
import { SchedulerError } from '../../../src/domain/errors.ts';
import { isPending } from '../../contracts/harness.ts';
import { COMES_AGAIN_MS, startMessaging } from './message-bus-rig.ts';

const DOWN = { code: 'SCHEDULER_DEPENDENCY_DOWN' };
const LIMIT_MS = 3_000;
const word = (body: unknown, lane = 'job-1') => ({ topic: 'word', lane, body });

async function startTwo(options: { maxMessages?: number; isReading?: boolean } = {}) {
  const messaging = startMessaging(options);
  const me = await messaging.join('me');
  const you = await messaging.join('you', { isReading: options.isReading ?? true });
  const received: unknown[] = [];
  you.bus.on('word', async (body, from) => {
    received.push([body, from]);
    return { echo: body };
  });
  /** How a request ended, once it has. */
  const outcomeOf = (requested: Promise<unknown>): Promise<unknown> =>
    requested.catch((fault: unknown) => fault);
  return { ...messaging, me, you, received, outcomeOf };
}

describe('a message without a reply', () => {
  it('reaches its handler with its sender, and is acknowledged', async () => {
    const { me, received, settle, isEmpty } = await startTwo();
    expect(await me.bus.send('you', word({ text: '“quoted” 你好' }))).toBe(true);
    await settle();
    expect(received).toEqual([[{ text: '“quoted” 你好' }, 'me']]);
    expect(await isEmpty('you')).toBe(true);
  });

  it('gets no reply', async () => {
    const { me, sent, settle } = await startTwo();
    await me.bus.send('you', word(1));
    await settle();
    expect(sent.map(({ to }) => to)).toEqual(['you']);
  });

  it('waits only for earlier messages of its lane', async () => {
    const { me, you, settle } = await startTwo();
    const begun: unknown[] = [];
    let end: () => void = () => {};
    you.bus.on('word', async (body) => {
      begun.push(body);
      if (body === 'slow')
        await new Promise<void>((resolve) => {
          end = resolve;
        });
    });
    for (const [body, lane] of [
      ['slow', 'a'],
      ['next', 'a'],
      ['other', 'b'],
    ] as const)
      await me.bus.send('you', word(body, lane));
    await settle();
    expect(begun).toEqual(['slow', 'other']);
    end();
    await settle();
    expect(begun).toEqual(['slow', 'other', 'next']);
  });

  it('is retried until its handler succeeds', async () => {
    const { me, you, clock, settle, isEmpty } = await startTwo();
    let failures = 1;
    let tries = 0;
    you.bus.on('word', async () => {
      tries += 1;
      if (failures-- > 0) throw new Error('not now');
    });
    await me.bus.send('you', word(1));
    await settle();
    expect(await isEmpty('you')).toBe(false);
    await clock.advance(COMES_AGAIN_MS);
    expect(tries).toBe(2);
    expect(await isEmpty('you')).toBe(true);
  });

  it('becomes a dead letter when its topic has no handler', async () => {
    const { me, inbox, clock } = await startTwo();
    await me.bus.send('you', { topic: 'of-a-newer-version', lane: 'job-1', body: {} });
    await clock.advance(4 * COMES_AGAIN_MS);
    expect(await inbox.size('you')).toEqual({ messages: 0, delivered: 0, dead: 1 });
  });

  it('rejects when it may have been sent, and returns false otherwise', async () => {
    const { me } = await startTwo();
    me.connection.plan({ method: 'send', fault: 'throw_after_effect' });
    await expect(me.bus.send('you', word(1))).rejects.toMatchObject(DOWN);
    me.connection.heal();
    expect(await me.bus.send('nobody', word(1))).toBe(false);
  });
});

describe('a request', () => {
  it('resolves to the result of the handler', async () => {
    const { me, settle, isEmpty } = await startTwo();
    const requested = me.bus.request('you', word([1, { two: null }]), LIMIT_MS);
    await settle();
    expect(await requested).toEqual({ echo: [1, { two: null }] });
    expect(me.bus.awaitedReplies()).toBe(0);
    expect(await isEmpty('me')).toBe(true);
  });

  it('resolves to null when the handler returns nothing', async () => {
    const { me, you, settle } = await startTwo();
    you.bus.on('word', async () => undefined);
    const requested = me.bus.request('you', word(1), LIMIT_MS);
    await settle();
    expect(await requested).toBeNull();
  });

  it('gets its own reply among many concurrent asks', async () => {
    const { me, you, settle } = await startTwo();
    const late: (() => void)[] = [];
    you.bus.on('word', async (body) => {
      await new Promise<void>((resolve) => late.unshift(resolve));
      return body;
    });
    const requested = ['a', 'b', 'c'].map((body) => me.bus.request('you', word(body, body), LIMIT_MS));
    await settle();
    for (const answer of late) answer();
    await settle();
    expect(await Promise.all(requested)).toEqual(['a', 'b', 'c']);
  });

  it('fails with the error code of the handler', async () => {
    const { me, you, settle, outcomeOf, isEmpty } = await startTwo();
    you.bus.on('word', async () => {
      throw new SchedulerError('RATE_LIMITED', 'slow down');
    });
    const outcome = outcomeOf(me.bus.request('you', word(1), LIMIT_MS));
    await settle();
    expect(await outcome).toMatchObject({ code: 'RATE_LIMITED', message: 'slow down' });
    expect(await isEmpty('you')).toBe(true);
  });

  it.each([
    ['an error without a code', new Error('oops'), 'oops'],
    ['no error at all', 'just words', 'just words'],
  ])('fails as INTERNAL_ERROR when its handler throws %s', async (_, thrown, message) => {
    const { me, you, settle, outcomeOf } = await startTwo();
    you.bus.on('word', async () => {
      throw thrown;
    });
    const outcome = outcomeOf(me.bus.request('you', word(1), LIMIT_MS));
    await settle();
    expect(await outcome).toMatchObject({ code: 'INTERNAL_ERROR', message });
  });

  it('ends at its limit without a reply', async () => {
    const { me, clock, outcomeOf } = await startTwo({ isReading: false });
    const timers = clock.pending();
    const requested = me.bus.request('you', word(1), LIMIT_MS);
    const outcome = outcomeOf(requested);
    await clock.advance(LIMIT_MS - 1);
    expect(await isPending(requested)).toBe(true);
    await clock.advance(1);
    expect(await outcome).toMatchObject(DOWN);
    expect(await outcome).not.toBeInstanceOf(Unsent);
    expect(me.bus.awaitedReplies()).toBe(0);
    expect(clock.pending()).toBe(timers);
  });

  it('ends at its limit although Redis does not answer', async () => {
    const { me, clock, outcomeOf } = await startTwo();
    me.connection.plan({ method: 'send', fault: { delayMs: 10 * LIMIT_MS } });
    const outcome = outcomeOf(me.bus.request('you', word(1), LIMIT_MS));
    await clock.advance(LIMIT_MS);
    expect(await Promise.race([outcome, Promise.resolve('still open')])).toMatchObject(DOWN);
  });

  it('ignores a reply that comes too late', async () => {
    const { me, you, clock, settle, outcomeOf, isEmpty } = await startTwo();
    let answer: (said: string) => void = () => {};
    you.bus.on('word', () => new Promise((resolve) => (answer = resolve)));
    const outcome = outcomeOf(me.bus.request('you', word(1), LIMIT_MS));
    await clock.advance(LIMIT_MS);
    expect(await outcome).toMatchObject(DOWN);
    you.bus.on('word', async () => 'in time');
    answer('too late');
    const next = me.bus.request('you', word(2, 'job-2'), LIMIT_MS);
    await settle();
    expect(await next).toBe('in time');
    expect(await isEmpty('me')).toBe(true);
  });

  it('leaves no timer once it is answered', async () => {
    const { me, clock } = await startTwo();
    // Timers of reads that were woken end within their wait, before the limit of the ask.
    const timersLater = async (): Promise<number> => {
      await clock.advance(LIMIT_MS - 1_000);
      return clock.pending();
    };
    const timers = await timersLater();
    const requested = me.bus.request('you', word(1), LIMIT_MS);
    expect(await timersLater()).toBe(timers);
    await requested;
  });

  it('is refused while too many replies are waited for', async () => {
    const { me, outcomeOf } = await startTwo({ isReading: false, maxMessages: 30_000 });
    const outcomes = Array.from({ length: 20_000 }, (_, at) =>
      outcomeOf(me.bus.request('you', word(at), LIMIT_MS)),
    );
    expect(me.bus.awaitedReplies()).toBe(20_000);
    await expect(me.bus.request('you', word('one more'), LIMIT_MS)).rejects.toMatchObject(DOWN);
    await me.bus.receive('me:1 {"topic":"reply","from":"you","replyId":"me:1","body":{"answer":"one less"}}');
    expect(await outcomes[0]).toBe('one less');
    expect(await isPending(me.bus.request('you', word('again'), LIMIT_MS))).toBe(true);
  });
});

describe('the lane of a message', () => {
  it('is read without parsing the message', async () => {
    const { me, sent } = await startTwo();
    await me.bus.send('you', word({ text: 'with spaces in it' }, 'job-7'));
    expect(sent.map(({ text }) => laneOf(text))).toEqual(['job-7']);
  });
});
