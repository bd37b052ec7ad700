/** A takeover: jobs, messages, then the name of the dead instance, in this order and with any fault in between. */
import { describe, expect, it } from 'vitest';
import { AGAIN_MS, type Stores, startTakeover, TURN_MS, unique } from './takeover-rig.ts';

describe('a survivor that takes over', () => {
  it('takes jobs, then messages, then late jobs, and the name last', async () => {
    const { survivor, deadWith, done, isForgotten, jobs } = startTakeover();
    const me = await survivor('me');
    const [jobId = ''] = await deadWith('dead', { jobCount: 1, fresh: ['x'] });
    await me.sees('dead');
    expect(done).toEqual([
      'jobs of dead',
      `adopted ${jobId}`,
      'message x',
      'inbox of dead closed',
      'jobs of dead',
      'settled of dead',
      'indexes of dead',
      'dead letters of dead',
      'name of dead',
    ]);
    expect(jobs.driver(jobId)).toBe('me/me-1');
    expect(jobs.drivenIn('me')).toEqual([jobId]);
    expect(await isForgotten('dead')).toBe(true);
    expect(me.counted('scheduler_takeovers_total')).toBe(1);
    expect(me.takeover.recent()).toMatchObject([{ instanceId: 'dead', cause: 'died', jobs: 1 }]);
  });

  it('remembers what it took over from instances that left, and from itself', async () => {
    const { survivor, deadWith, jobs } = startTakeover();
    const me = await survivor('me');
    await me.takeover.takeOverPrevious();
    await jobs.add('me/me-0');
    await me.takeover.takeOverPrevious();
    await deadWith('idle', { isGraceful: true });
    await deadWith('busy', { jobCount: 2, isGraceful: true });
    await me.sees('idle', 'busy');
    expect(me.takeover.recent()).toMatchObject([
      { instanceId: 'busy', cause: 'left', jobs: 2 },
      { instanceId: 'me', cause: 'restarted', jobs: 1 },
    ]);
  });

  it('counts the jobs of a takeover that needs several passes', async () => {
    const { clock, survivor, deadWith } = startTakeover();
    const me = await survivor('me');
    await deadWith('dead', { jobCount: 2, fresh: ['x'] });
    me.state.receive = () => Promise.reject(new Error('not now'));
    await me.sees('dead');
    expect(me.takeover.recent()).toEqual([]);
    me.state.receive = async () => undefined;
    await clock.advance(AGAIN_MS);
    await me.sees('dead');
    expect(me.takeover.recent()).toMatchObject([{ instanceId: 'dead', jobs: 2, endedAt: clock.now() }]);
  });

  it('remembers its jobs although another survivor ends the takeover', async () => {
    const { survivor, deadWith, instances } = startTakeover();
    const me = await survivor('me');
    await deadWith('dead', { jobCount: 2, fresh: ['x'] });
    me.state.receive = () => Promise.reject(new Error('not now'));
    await me.sees('dead');
    await instances.remove('dead');
    await me.sees();
    expect(me.takeover.recent()).toMatchObject([{ instanceId: 'dead', cause: 'died', jobs: 2 }]);
  });

  it('remembers its jobs if the other survivor ends the takeover during its own', async () => {
    const { clock, survivor, deadWith, instances } = startTakeover();
    const me = await survivor('me');
    await deadWith('dead', { jobCount: 2 });
    me.stores.plan({ method: 'close', at: [1], fault: { delayMs: 10 } });
    await me.sees('dead');
    await instances.remove('dead');
    await me.sees();
    await clock.advance(10);
    expect(me.takeover.recent()).toMatchObject([{ instanceId: 'dead', jobs: 2 }]);
  });

  it('remembers a job whose call failed after its effect', async () => {
    const { clock, survivor, deadWith, instances } = startTakeover();
    const me = await survivor('me');
    await deadWith('dead', { jobCount: 1 });
    me.stores.plan({ method: 'takeOver', at: [1], fault: 'throw_after_effect' });
    await me.sees('dead');
    await instances.remove('dead');
    await me.sees();
    await clock.advance(TURN_MS);
    expect(me.takeover.recent()).toMatchObject([{ instanceId: 'dead', cause: 'died', jobs: 1 }]);
  });

  it('I11: remembers the last 50 takeovers', async () => {
    const { survivor, deadWith } = startTakeover();
    const me = await survivor('me');
    for (let at = 0; at < 60; at += 1) {
      await deadWith(`dead-${at}`, {});
      await me.sees(`dead-${at}`);
    }
    const recent = me.takeover.recent().map(({ instanceId }) => instanceId);
    expect(recent).toHaveLength(50);
    expect([recent[0], recent[49]]).toEqual(['dead-59', 'dead-10']);
  });

  it('does not count an instance that left as a death', async () => {
    const { survivor, deadWith, isForgotten } = startTakeover();
    const me = await survivor('me');
    await deadWith('gone', { jobCount: 1, isGraceful: true });
    await me.sees('gone');
    expect(await isForgotten('gone')).toBe(true);
    expect(me.counted('scheduler_takeovers_total')).toBe(0);
  });

  it('does not count an instance that lives again as a death', async () => {
    const { survivor, deadWith, announce, done, isForgotten } = startTakeover();
    const me = await survivor('me');
    await deadWith('dead', { jobCount: 1 });
    me.state.orphan = async () => void (await announce('dead', 'dead-2'));
    await me.sees('dead');
    expect(done.at(-1)).toBe('name of dead');
    expect(await isForgotten('dead')).toBe(false);
    expect(me.counted('scheduler_takeovers_total')).toBe(0);
  });

  it('handles messages that were read before first, each once, in order', async () => {
    const { survivor, deadWith, inbox } = startTakeover();
    const me = await survivor('me');
    const named = (kind: string, count: number) => Array.from({ length: count }, (_, at) => `${kind}-${at}`);
    const [pending, fresh] = [named('read', 100), named('new', 100)];
    await deadWith('dead', { pending, fresh });
    await me.sees('dead');
    expect(me.messages).toEqual([...pending, ...fresh]);
    expect(await inbox.send('dead', 'too late')).toBe('gone');
  });

  it('keeps the inbox open for a message that arrives last', async () => {
    const { clock, survivor, deadWith, inbox, done, isForgotten } = startTakeover();
    const me = await survivor('me');
    await deadWith('dead', {});
    me.stores.plan({ method: 'close', at: [1], fault: { delayMs: 10 } });
    await me.sees('dead');
    await inbox.send('dead', 'late');
    await clock.advance(10);
    expect([done.at(-1), await isForgotten('dead')]).toEqual(['inbox of dead not_empty', false]);
    await me.sees('dead');
    expect([me.messages, await isForgotten('dead')]).toEqual([['late'], true]);
  });

  it('takes over every job, with a bounded number of concurrent calls', async () => {
    const { clock, survivor, deadWith } = startTakeover();
    const me = await survivor('me');
    const left = await deadWith('dead', { jobCount: 100 });
    me.stores.plan({ method: 'takeOver', fault: { answerDelayMs: 1 } });
    await me.sees('dead');
    expect(me.stores.calls('takeOver')).toBe(32);
    await clock.advance(TURN_MS);
    expect(unique(me.resumed)).toEqual(unique(left));
    expect(me.resumed).toHaveLength(100);
  });

  it('skips jobs that are settled, forgotten or driven by another instance', async () => {
    const { survivor, deadWith, jobs, isForgotten } = startTakeover();
    const me = await survivor('me');
    const [settled = '', theirs = '', own = ''] = await deadWith('dead', { jobCount: 3 });
    await jobs.settle(settled);
    jobs.assign(theirs, 'other/other-1');
    await me.sees('dead');
    expect(me.resumed).toEqual([own]);
    expect(jobs.driver(theirs)).toBe('other/other-1');
    expect(await isForgotten('dead')).toBe(false);
  });

  it('keeps the name of the dead instance while a job is left', async () => {
    const { survivor, deadWith, jobs, done, isForgotten } = startTakeover();
    const me = await survivor('me');
    await deadWith('dead', {});
    const late = await jobs.add('elsewhere/elsewhere-1');
    // The index names the job and its record names another driver: it cannot be taken over, and the index stays.
    jobs.assign(late.jobId, 'elsewhere/elsewhere-1');
    jobs.index('dead', late);
    await me.sees('dead');
    expect(done.at(-1)).toBe('indexes of dead kept');
    expect(await isForgotten('dead')).toBe(false);
    expect(me.counted('scheduler_takeovers_total')).toBe(0);
  });

  it('takes over jobs that were written while the inbox was emptied', async () => {
    const { survivor, deadWith, jobs } = startTakeover();
    const me = await survivor('me');
    await deadWith('dead', { fresh: ['x'] });
    let late = '';
    me.state.receive = async () => {
      late = (await jobs.add('dead/dead-1')).jobId;
    };
    await me.sees('dead');
    expect(me.resumed).toEqual([late]);
  });
});

describe('a message of a dead instance that cannot be handled', () => {
  it('delays only the closing of the inbox', async () => {
    const { clock, survivor, deadWith, done, isForgotten } = startTakeover();
    const me = await survivor('me');
    const [jobId] = await deadWith('dead', { jobCount: 1, pending: ['bad', 'b'], fresh: ['c', 'd'] });
    me.state.receive = async (text) => {
      if (text === 'bad') throw new Error('its job has no driver yet');
    };
    await me.sees('dead');
    expect([me.messages, me.resumed]).toEqual([['b', 'c', 'd'], [jobId]]);
    // The dead instance had read the other messages, and may have handled them.
    expect(me.state.opened).toEqual(['b']);
    expect(done.filter((what) => /inbox|settled|indexes|name/.test(what))).toEqual([]);
    me.state.receive = async () => {};
    await clock.advance(AGAIN_MS);
    await me.sees('dead');
    expect(me.messages).toEqual(['b', 'c', 'd', 'bad']);
    expect(await isForgotten('dead')).toBe(true);
  });

  it('delays only messages of its own job', async () => {
    const { clock, survivor, deadWith, isForgotten } = startTakeover();
    const me = await survivor('me');
    await deadWith('dead', { fresh: ['first:sick', 'second:sick', 'first:sound', 'second:sound'] });
    me.state.receive = async (text) => {
      if (text.endsWith(':sick')) await new Promise<void>((resolve) => clock.after(1_000, resolve));
    };
    await me.sees('dead');
    expect(me.messages).toEqual(['first:sound', 'second:sound']);
    await clock.advance(1_000);
    expect(me.messages.slice(2)).toEqual(['first:sick']);
    await clock.advance(1_000);
    expect(me.messages.slice(2)).toEqual(['first:sick', 'second:sick']);
    expect(await isForgotten('dead')).toBe(true);
  });

  it('is retried later, and becomes a dead letter after too many tries', async () => {
    const { clock, survivor, deadWith, inbox, isForgotten } = startTakeover({ maxDeliveries: 3 });
    const me = await survivor('me');
    await deadWith('dead', { fresh: ['poison', ...Array.from({ length: 200 }, (_, at) => `good-${at}`)] });
    let tries = 0;
    me.state.receive = async (text) => {
      if (text !== 'poison') return;
      tries += 1;
      throw new Error('never');
    };
    for (const turn of [1, 2, 3]) {
      for (let looks = 0; looks < 5; looks += 1) await me.sees('dead');
      expect([tries, await isForgotten('dead')]).toEqual([turn, false]);
      await clock.advance(AGAIN_MS - 1);
      await me.sees('dead');
      expect(tries).toBe(turn);
      await clock.advance(1);
    }
    await me.sees('dead');
    expect(tries).toBe(3);
    expect((await inbox.size('dead')).dead).toBe(1);
    expect(me.asked).toEqual(['poison']);
    expect(me.counted('scheduler_phase2_dlq_moved_total')).toBe(1);
    expect(await isForgotten('dead')).toBe(true);
  });
});

describe('a takeover that fails', () => {
  const STEPS: readonly (keyof Stores)[] = [
    'drivenBy',
    'takeOver',
    'living',
    'take',
    'takeAgain',
    'ack',
    'close',
    'inheritSettled',
    'forgetIndexes',
    'orphan',
    'remove',
  ];
  const FAULTS = ['throw', 'throw_after_effect'] as const;
  it.each(STEPS.flatMap((method) => FAULTS.map((fault) => ({ method, fault }))))(
    'continues at the next membership read: $method, $fault',
    async ({ method, fault }) => {
      const { clock, survivor, deadWith, isForgotten, jobs } = startTakeover();
      const me = await survivor('me');
      const left = await deadWith('dead', { jobCount: 3, pending: ['a'], fresh: ['b'] });
      me.stores.plan({ method, at: [1], fault });
      await me.sees('dead');
      expect(me.stores.struck()).toBe(1);
      await me.sees('dead');
      // Messages that it had just read come again then.
      await clock.advance(TURN_MS);
      if (!(await isForgotten('dead'))) await me.sees('dead');
      expect(unique(me.resumed)).toEqual(unique(left));
      expect(left.map((jobId) => jobs.driver(jobId))).toEqual(left.map(() => me.driver));
      expect(unique(me.messages)).toEqual(['a', 'b']);
      expect(await isForgotten('dead')).toBe(true);
      expect(me.counted('scheduler_takeovers_total')).toBe(1);
    },
  );

  it('drives every job that it took, although another one failed', async () => {
    const { survivor, deadWith, jobs } = startTakeover();
    const me = await survivor('me');
    const left = await deadWith('dead', { jobCount: 40 });
    me.stores.plan({ method: 'takeOver', at: [2], fault: 'throw' });
    await me.sees('dead');
    const taken = left.filter((jobId) => jobs.driver(jobId) === me.driver);
    expect(taken).toHaveLength(39);
    expect(unique(me.resumed)).toEqual(unique(taken));
    expect(me.messages).toEqual([]);
  });

  it('takes every job on shards that answer', async () => {
    const { survivor, deadWith, jobs } = startTakeover();
    const me = await survivor('me');
    const left = await deadWith('dead', { jobCount: 100 });
    const away = Array.from({ length: 50 }, (_, at) => 2 * at + 1);
    me.stores.plan({ method: 'takeOver', at: away, fault: 'throw' });
    await me.sees('dead');
    expect(left.filter((jobId) => jobs.driver(jobId) === me.driver)).toHaveLength(50);
    expect(me.messages).toEqual([]);
  });

  it('stops early when the store answers nothing', async () => {
    const { survivor, deadWith } = startTakeover();
    const me = await survivor('me');
    await deadWith('dead', { jobCount: 100 });
    me.stores.plan({ method: 'takeOver', fault: 'throw' });
    await me.sees('dead');
    expect(me.stores.calls('takeOver')).toBe(32);
  });

  it('does not start twice', async () => {
    const { survivor, deadWith, clock, done, isForgotten } = startTakeover();
    const me = await survivor('me');
    await deadWith('dead', { jobCount: 1 });
    me.stores.plan({ method: 'drivenBy', at: [1], fault: { answerDelayMs: TURN_MS } });
    for (let look = 0; look < 3; look += 1) await me.sees('dead');
    await clock.advance(TURN_MS);
    expect(done.filter((what) => what === 'jobs of dead')).toHaveLength(2);
    expect(await isForgotten('dead')).toBe(true);
  });
});
