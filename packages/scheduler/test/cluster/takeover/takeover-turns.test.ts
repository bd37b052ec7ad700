/** Which survivor takes over, and when: several survivors, fenced ones, and instances that restart under the same name. */
import { describe, expect, it } from 'vitest';
import { startTakeover, TURN_MS, unique } from './takeover-rig.ts';

/** For dead-1 "a" comes first, for the other "b". */
const digest = (text: string): string =>
  text.startsWith('dead-1') ? text : [...'ba'].indexOf(text.at(-1) ?? '').toString();

describe('several survivors', () => {
  it('take over every job and message once, although all begin together', async () => {
    const { survivor, deadWith, clock, jobs, isForgotten } = startTakeover();
    const all = await Promise.all(['a', 'b', 'c'].map((name) => survivor(name, { turnMs: 0 })));
    const left = await deadWith('dead', { jobCount: 100, pending: ['x'], fresh: ['y', 'z'] });
    for (const each of all) each.stores.plan({ fault: { delayMs: 1 } });
    for (const each of all) each.takeover.died(['dead']);
    await clock.advance(TURN_MS);
    const resumed = all.flatMap((each) => each.resumed);
    expect(resumed).toHaveLength(100);
    expect(unique(resumed)).toEqual(unique(left));
    for (const each of all)
      expect(each.resumed.map((jobId) => jobs.driver(jobId))).toEqual(each.resumed.map(() => each.driver));
    expect(unique(all.flatMap((each) => each.messages))).toEqual(['x', 'y', 'z']);
    expect(await isForgotten('dead')).toBe(true);
  });

  it('begin one after the other, each after its turn time', async () => {
    const { survivor, deadWith, clock } = startTakeover();
    const [a, b, c] = [await survivor('a'), await survivor('b'), await survivor('c')];
    await deadWith('dead', { jobCount: 1 });
    for (const each of [a, b, c]) each.stores.plan({ method: 'drivenBy', fault: 'throw' });
    const tries = () => [a, b, c].map(({ stores }) => stores.calls('drivenBy'));
    const look = async (): Promise<void> => {
      for (const each of [a, b, c]) await each.sees('dead');
    };
    await look();
    expect(tries()).toEqual([1, 0, 0]);
    await clock.advance(TURN_MS - 1);
    await look();
    expect(tries()).toEqual([2, 0, 0]);
    await clock.advance(1);
    await look();
    expect(tries()).toEqual([3, 1, 0]);
    await clock.advance(TURN_MS);
    await look();
    expect(tries()).toEqual([4, 2, 1]);
  });

  it('take turns by a digest of the names', async () => {
    const { survivor, deadWith } = startTakeover();
    const [a, b] = [await survivor('a', { digest }), await survivor('b', { digest })];
    const left = new Map<string, readonly string[]>();
    for (const name of ['dead-1', 'dead-2']) left.set(name, await deadWith(name, { jobCount: 1 }));
    for (const each of [a, b]) await each.sees('dead-1', 'dead-2');
    expect([a.resumed, b.resumed]).toEqual([left.get('dead-1'), left.get('dead-2')]);
  });

  it('take over several instances that died together', async () => {
    const { survivor, deadWith, isForgotten } = startTakeover();
    const me = await survivor('me');
    const left = [
      ...(await deadWith('dead-1', { jobCount: 2, fresh: ['x'] })),
      ...(await deadWith('dead-2', { jobCount: 2, fresh: ['y'] })),
    ];
    await me.sees('dead-1', 'dead-2');
    expect([unique(me.resumed), unique(me.messages)]).toEqual([unique(left), ['x', 'y']]);
    expect([await isForgotten('dead-1'), await isForgotten('dead-2')]).toEqual([true, true]);
  });
});

describe('an instance that may not take over', () => {
  it('waits while it is fenced, and takes over afterwards', async () => {
    const { survivor, deadWith, done, isForgotten } = startTakeover();
    const me = await survivor('me');
    await deadWith('dead', { jobCount: 1, fresh: ['x'] });
    me.state.isFenced = true;
    await me.sees('dead');
    expect([done, me.stores.calls()]).toEqual([[], 0]);
    me.state.isFenced = false;
    await me.sees('dead');
    expect(await isForgotten('dead')).toBe(true);
  });

  it('waits while it is not in the membership view', async () => {
    const { survivor, deadWith, instances, done, clock } = startTakeover();
    const me = await survivor('me');
    await deadWith('dead', { jobCount: 1 });
    await instances.leave({ instanceId: 'me', incarnation: 'me-1' });
    await me.sees('dead');
    await clock.advance(10 * TURN_MS);
    await me.sees('dead');
    expect(done).toEqual([]);
  });

  it('forgets the time of death of an instance that came back', async () => {
    const { survivor, deadWith, clock } = startTakeover();
    await survivor('a');
    const b = await survivor('b');
    await deadWith('dead', { jobCount: 1 });
    await b.sees('dead');
    await clock.advance(TURN_MS);
    await b.sees();
    await b.sees('dead');
    expect(b.resumed).toEqual([]);
    await clock.advance(TURN_MS);
    await b.sees('dead');
    expect(b.resumed).toHaveLength(1);
  });
});

describe('an instance that restarts under its name', () => {
  it('keeps its new jobs; jobs of its previous incarnation are taken over', async () => {
    const { survivor, deadWith, announce, jobs, isForgotten, inbox } = startTakeover();
    const me = await survivor('me');
    const [old] = await deadWith('reborn', { jobCount: 1, fresh: ['for its new life'] });
    await announce('reborn', 'reborn-2');
    const { jobId } = await jobs.add('reborn/reborn-2');
    await me.sees('reborn');
    expect(me.resumed).toEqual([old]);
    expect(jobs.driver(jobId)).toBe('reborn/reborn-2');
    expect(jobs.drivenIn('reborn')).toEqual([jobId]);
    expect([me.messages, await isForgotten('reborn')]).toEqual([[], false]);
    expect(await inbox.send('reborn', 'more')).toBe('sent');
  });

  it('keeps jobs that it resumed during a takeover by another', async () => {
    const { survivor, deadWith, announce, jobs, clock } = startTakeover();
    const me = await survivor('me');
    const left = await deadWith('reborn', { jobCount: 40 });
    me.stores.plan({ method: 'takeOver', at: [1], fault: { answerDelayMs: 10 } });
    await me.sees('reborn');
    await announce('reborn', 'reborn-2');
    const back = left.filter((jobId) => jobs.driver(jobId) === 'reborn/reborn-1');
    for (const jobId of back) jobs.assign(jobId, 'reborn/reborn-2');
    expect(back).toHaveLength(8);
    await clock.advance(10);
    expect(back.map((jobId) => jobs.driver(jobId))).toEqual(back.map(() => 'reborn/reborn-2'));
    expect(me.resumed).toHaveLength(32);
  });

  it('keeps its indexes and name if it restarts during the takeover', async () => {
    const { survivor, deadWith, announce, done } = startTakeover();
    const me = await survivor('me');
    await deadWith('reborn', { fresh: ['x', 'y'] });
    me.state.receive = async (text) => {
      if (text === 'y') await announce('reborn', 'reborn-2');
    };
    await me.sees('reborn');
    expect(done.filter((what) => /inbox|settled|indexes|name/.test(what))).toEqual([]);
  });

  it('keeps its indexes and name if it restarts after its inbox closed', async () => {
    const { survivor, deadWith, announce, done, clock } = startTakeover();
    const me = await survivor('me');
    await deadWith('reborn', {});
    me.stores.plan({ method: 'drivenBy', at: [2], fault: { answerDelayMs: 10 } });
    await me.sees('reborn');
    expect(done.at(-2)).toBe('inbox of reborn closed');
    await announce('reborn', 'reborn-2');
    await clock.advance(10);
    expect(done.filter((what) => /settled|indexes|name/.test(what))).toEqual([]);
  });

  it('takes over the jobs of its previous incarnation', async () => {
    const { survivor, deadWith, jobs } = startTakeover();
    const old = await deadWith('me', { jobCount: 2 });
    const me = await survivor('me', { incarnation: 'me-2' });
    await me.takeover.takeOverPrevious();
    expect(unique(me.resumed)).toEqual(unique(old));
    expect(old.map((jobId) => jobs.driver(jobId))).toEqual(old.map(() => 'me/me-2'));
    expect(unique(jobs.drivenIn('me'))).toEqual(unique(old));
  });

  it('starts while the store fails, and takes its old jobs over later', async () => {
    const { survivor, deadWith, clock } = startTakeover();
    const [old] = await deadWith('me', { jobCount: 1 });
    const me = await survivor('me', { incarnation: 'me-2' });
    me.stores.plan({ method: 'drivenBy', fault: 'throw' });
    await me.takeover.takeOverPrevious();
    await clock.advance(3 * TURN_MS);
    expect(me.resumed).toEqual([]);
    me.stores.heal();
    await clock.advance(TURN_MS);
    expect(me.resumed).toEqual([old]);
    expect(clock.pending()).toBe(0);
  });
});
