/** Hints between instances: gathered, received by the others, allowed to be lost, and never blocking. */
import { describe, expect, it } from 'vitest';
import { NO_USE } from '../../../src/domain/service-use.ts';
import { FRESH_MS, startTalk } from './hints-rig.ts';

const OUTCOMES_MS = 5_000;
const partialOf = (jobId: string, text: string, isFinal = false) => ({ jobId, nodeId: 'n1', text, isFinal });

describe('hints', () => {
  it('sends the load of a node to all other instances', async () => {
    const { clock, join } = startTalk();
    const [a, b, c] = [await join('a'), await join('b'), await join('c')];
    a.hints.load('n1', { used: 2, max: 4 });
    await clock.advance(FRESH_MS);
    expect([b.received, c.received, a.received]).toEqual([['n1 2/4'], ['n1 2/4'], []]);
    expect(clock.pending()).toBe(0);
  });

  it('sends the newest pace of each node once a second', async () => {
    const { clock, join, said } = startTalk();
    const [a, b] = [await join('a'), await join('b')];
    for (const pace of [100, 120, 140]) a.hints.pace('en>zh', 'n1', pace);
    a.hints.pace('en>fr', 'n1', 90);
    await clock.advance(1_000 + FRESH_MS);
    expect([a.received, b.received]).toEqual([[], ['n1 en>zh: 140 ms', 'n1 en>fr: 90 ms']]);
    expect([said.length, clock.pending()]).toEqual([1, 0]);
  });

  it('ignores a pace that is no positive number', async () => {
    const { clock, hintBus, join } = startTalk();
    const a = await join('a');
    for (const paces of [[['en>zh', 'n1', 0]], [['en>zh', 'n1', 'fast']], [['en>zh', 7, 1]], [7], 7, []])
      hintBus.sendToAll(JSON.stringify({ from: 'b', paces }));
    await clock.advance(FRESH_MS);
    expect(a.received).toEqual([]);
  });

  it('sends figures to all other instances, and none while fenced', async () => {
    const { clock, join } = startTalk();
    const [a, b, c] = [await join('a'), await join('b'), await join('c')];
    a.hints.figures({ jobs: 1 });
    a.state.isFenced = true;
    a.hints.figures({ jobs: 2 });
    await clock.advance(FRESH_MS);
    expect([a.received, b.received, c.received]).toEqual([
      [],
      ['figures of a: {"jobs":1}'],
      ['figures of a: {"jobs":1}'],
    ]);
  });

  it('sends every outcome of an attempt to the holder of the node only', async () => {
    const { clock, join } = startTalk();
    const [a, b, c] = [await join('a'), await join('b'), await join('c')];
    for (const outcome of ['placed', 'failed', 'placed', 'succeeded'] as const)
      a.hints.attemptOutcome('b', 'n1', outcome, NO_USE);
    a.hints.attemptOutcome('c', 'n2', 'placed', NO_USE);
    await clock.advance(FRESH_MS);
    expect(b.received).toEqual(['n1 placed', 'n1 failed', 'n1 placed', 'n1 succeeded']);
    expect(c.received).toEqual(['n2 placed']);
  });

  it('sends failures at once and gathers successes for five seconds', async () => {
    const { clock, join, said } = startTalk();
    const [a, b] = [await join('a'), await join('b')];
    for (let times = 0; times < 4; times += 1) {
      a.hints.attemptOutcome('b', 'n1', 'succeeded', NO_USE);
      await clock.advance(OUTCOMES_MS / 4 - 1);
    }
    expect(said).toEqual([]);
    a.hints.attemptOutcome('b', 'n1', 'failed', NO_USE);
    await clock.advance(4);
    expect(b.received).toHaveLength(5);
    a.hints.attemptOutcome('b', 'n2', 'placed', NO_USE);
    a.hints.attemptOutcome('b', 'n2', 'failed', NO_USE);
    await clock.advance(FRESH_MS);
    expect(b.received.slice(5)).toEqual(['n2 placed', 'n2 failed']);
    expect([said.length, clock.pending()]).toEqual([2, 0]);
  });

  it('MODEL_NOT_AVAILABLE: sends the holder the missing model and the services used', async () => {
    const { clock, join } = startTalk();
    const [a, b, c] = [await join('a'), await join('b'), await join('c')];
    a.hints.attemptOutcome('b', 'n1', 'placed', { types: ['semantic', 'nmt'], services: [] });
    a.hints.attemptOutcome('b', 'n1', 'succeeded', {
      types: ['semantic'],
      services: ['m2m', 'emotion-xlm-r'],
    });
    a.hints.missing('b', 'n1', { serviceId: 'm2m', version: '1.2', reason: 'not_found' });
    await clock.advance(OUTCOMES_MS);
    expect(b.received).toEqual([
      'n1 lacks m2m@1.2: not_found',
      'n1 placed semantic nmt',
      'n1 succeeded semantic m2m emotion-xlm-r',
    ]);
    expect(c.received).toEqual([]);
    a.hints.missing('b', 'n1', { serviceId: 'm2m', version: '1.2', reason: 'not_found' });
    a.state.isFenced = true;
    await clock.advance(FRESH_MS);
    expect(b.received).toHaveLength(3);
  });

  it('sends only the latest partial text, and only to the driver', async () => {
    const { clock, join, said } = startTalk();
    const [a, b, c] = [await join('a'), await join('b'), await join('c')];
    a.hints.partial('b', partialOf('job-1', 'he'));
    a.hints.partial('b', partialOf('job-1', 'hello', true));
    a.hints.partial('b', partialOf('job-2', 'good'));
    a.hints.partial('c', partialOf('job-3', 'bye'));
    await clock.advance(FRESH_MS);
    expect(b.received).toEqual(['job-1 on n1: hello.', 'job-2 on n1: good…']);
    expect(c.received).toEqual(['job-3 on n1: bye…']);
    expect(said).toHaveLength(2);
  });

  it('sends text for subscribers to all instances, and only the latest', async () => {
    const { clock, join, said } = startTalk();
    const [a, b, c] = [await join('a'), await join('b'), await join('c')];
    a.hints.followed(partialOf('job-1', 'he'));
    a.hints.followed(partialOf('job-1', 'hello'));
    await clock.advance(FRESH_MS);
    expect(b.received).toEqual(['job-1 for subscribers: hello']);
    expect(c.received).toEqual(b.received);
    expect(a.received).toEqual([]);
    expect(said).toHaveLength(1);
  });

  it('gathers close hints into one message with the last load', async () => {
    const { clock, join, said } = startTalk();
    const [a, b] = [await join('a'), await join('b')];
    for (let used = 0; used <= 4; used += 1) a.hints.load('n1', { used, max: 4 });
    a.hints.load('n2', { used: 1, max: 1 });
    expect(clock.pending()).toBe(1);
    await clock.advance(FRESH_MS);
    expect(b.received).toEqual(['n1 4/4', 'n2 1/1']);
    expect(said).toHaveLength(1);
  });

  it('sends no hint twice', async () => {
    const { clock, join } = startTalk();
    const [a, b] = [await join('a'), await join('b')];
    for (const round of ['first', 'second']) {
      a.hints.load(`n-${round}`, { used: 1, max: 1 });
      a.hints.attemptOutcome('b', `n-${round}`, 'placed', NO_USE);
      a.hints.partial('b', partialOf(`job-${round}`, 'text'));
      await clock.advance(OUTCOMES_MS);
    }
    expect(b.received).toHaveLength(6);
    expect(new Set(b.received).size).toBe(6);
  });

  it('splits many hints into several messages', async () => {
    const { clock, join, said } = startTalk();
    const [a, b] = [await join('a'), await join('b')];
    for (let at = 0; at < 1_201; at += 1) {
      a.hints.load(`n${at}`, { used: 1, max: 1 });
      a.hints.attemptOutcome('b', `n${at}`, 'placed', NO_USE);
      a.hints.partial('b', partialOf(`job-${at}`, 'text'));
    }
    await clock.advance(OUTCOMES_MS);
    expect(new Set(b.received).size).toBe(3 * 1_201);
    expect(said).toHaveLength(9);
    expect(Math.max(...said.map(({ text }) => text.length))).toBeLessThan(100_000);
  });

  it('sends no hints while the instance is fenced', async () => {
    const { clock, join } = startTalk();
    const [a, b] = [await join('a'), await join('b')];
    a.state.isFenced = true;
    a.hints.load('n1', { used: 2, max: 4 });
    a.hints.attemptOutcome('b', 'n1', 'failed', NO_USE);
    a.hints.partial('b', partialOf('job-1', 'old'));
    await clock.advance(FRESH_MS);
    a.state.isFenced = false;
    a.hints.load('n2', { used: 0, max: 4 });
    await clock.advance(FRESH_MS);
    expect(b.received).toEqual(['n2 0/4']);
  });
});

describe('a received hint', () => {
  it('is ignored when malformed, and later hints still arrive', async () => {
    const { clock, hintBus, join, faults } = startTalk();
    const b = await join('b');
    for (const text of [
      'not json',
      'null',
      '{"from":"a","loads":[["n1","many",4],["n2",1,null],["n3",1,4]]}',
      '{"from":"a","rumours":["of a newer version"]}',
      '{"from":"a","outcomes":[null,["n4","praised"],["n5","failed","asr"],["n6","failed",["asr"],[7]],["n7","failed"],["n9","failed",["asr"]]]}',
      '{"from":"a","missing":[null,["n8","m2m","1","not_found"]]}',
    ])
      hintBus.sendToAll(text);
    await clock.advance(0);
    expect(b.received).toEqual(['n3 1/4', 'n9 failed asr', 'n8 lacks m2m@1: not_found']);
    expect(faults).toHaveLength(2);
  });
});

describe('an instance that cannot subscribe at first', () => {
  it('starts, publishes, and retries until it is subscribed', async () => {
    const { clock, hintBus, make, join } = startTalk();
    let failures = 3;
    const deaf = make('deaf', (...args) =>
      failures-- > 0 ? Promise.reject(new Error('the store is away')) : hintBus.subscribe(...args),
    );
    await deaf.hints.start();
    const a = await join('a');
    deaf.hints.load('n1', { used: 1, max: 1 });
    a.hints.load('n2', { used: 1, max: 1 });
    await clock.advance(FRESH_MS);
    expect([a.received, deaf.received]).toEqual([['n1 1/1'], []]);
    await clock.advance(10_000);
    a.hints.load('n2', { used: 0, max: 1 });
    await clock.advance(FRESH_MS);
    expect(deaf.received).toEqual(['n2 0/1']);
    expect(clock.pending()).toBe(0);
  });

  it('does not retry after a stop', async () => {
    const { clock, make } = startTalk();
    let tries = 0;
    const deaf = make('deaf', () => {
      tries += 1;
      return Promise.reject(new Error('the store is away'));
    });
    await deaf.hints.start();
    await deaf.hints.stop();
    await clock.advance(60_000);
    expect(tries).toBe(1);
  });

  it('does not retry when stopped during an attempt', async () => {
    const { clock, make } = startTalk();
    let fail: (fault: Error) => void = () => {};
    const slow = make('slow', () => new Promise((_, reject) => (fail = reject)));
    const started = slow.hints.start();
    await slow.hints.stop();
    fail(new Error('the store is away'));
    await started;
    expect(clock.pending()).toBe(0);
  });

  it('unsubscribes when stopped while subscribing', async () => {
    const { clock, hintBus, make, join } = startTalk();
    let begin: () => void = () => {};
    const slow = make('slow', async (...args) => {
      await new Promise<void>((resolve) => {
        begin = resolve;
      });
      return hintBus.subscribe(...args);
    });
    const started = slow.hints.start();
    await slow.hints.stop();
    begin();
    await started;
    const a = await join('a');
    a.hints.load('n1', { used: 1, max: 1 });
    await clock.advance(FRESH_MS);
    expect(slow.received).toEqual([]);
  });
});

describe('a stopped instance', () => {
  it('neither publishes nor receives hints', async () => {
    const { clock, join, said } = startTalk();
    const [a, b, c] = [await join('a'), await join('b'), await join('c')];
    a.hints.load('n1', { used: 1, max: 1 });
    await a.hints.stop();
    await b.hints.stop();
    a.hints.load('n2', { used: 1, max: 1 });
    b.hints.load('n3', { used: 1, max: 1 });
    await clock.advance(FRESH_MS);
    expect([said, c.received, clock.pending()]).toEqual([[], [], 0]);
    c.hints.load('n4', { used: 1, max: 1 });
    await clock.advance(FRESH_MS);
    expect([a.received, b.received]).toEqual([[], []]);
  });

  it('stops although Redis does not answer the unsubscribe', async () => {
    const { make } = startTalk();
    const one = make('one', async () => () => Promise.reject(new Error('the store is away')));
    await one.hints.start();
    await expect(one.hints.stop()).resolves.toBeUndefined();
  });
});
