/** Who adopts when: several survivors at once, those that may not, and instances that are started again under their name. */
import { describe, expect, it } from 'vitest';
import { startEstate, TURN_MS, unique } from './takeover-rig.ts';

/** Of the one name "a" comes first, of the other "b". */
const digest = (text: string): string =>
  text.startsWith('dead-1') ? text : [...'ba'].indexOf(text.at(-1) ?? '').toString();

describe('several survivors', () => {
  it('adopt every job once and every message, although all begin at once', async () => {
    const { survivor, deadWith, clock, jobs, isForgotten } = startEstate();
    const all = await Promise.all(['a', 'b', 'c'].map((name) => survivor(name, { turnMs: 0 })));
    const left = await deadWith('dead', { jobCount: 100, pending: ['x'], fresh: ['y', 'z'] });
    for (const each of all) each.stores.plan({ fault: { delayMs: 1 } });
    for (const each of all) each.takeover.died(['dead']);
    await clock.advance(TURN_MS);
    const adopted = all.flatMap((each) => each.adopted);
    expect(adopted).toHaveLength(100);
    expect(unique(adopted)).toEqual(unique(left));
    for (const each of all)
      expect(each.adopted.map((jobId) => jobs.driver(jobId))).toEqual(each.adopted.map(() => each.driver));
    expect(unique(all.flatMap((each) => each.messages))).toEqual(['x', 'y', 'z']);
    expect(await isForgotten('dead')).toBe(true);
  });

  it('begin one after the other: the first at once, the others if it takes too long', async () => {
    const { survivor, deadWith, clock } = startEstate();
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

  it('take turns by a digest of the names, so that not always the same one has the work', async () => {
    const { survivor, deadWith } = startEstate();
    const [a, b] = [await survivor('a', { digest }), await survivor('b', { digest })];
    const left = new Map<string, readonly string[]>();
    for (const name of ['dead-1', 'dead-2']) left.set(name, await deadWith(name, { jobCount: 1 }));
    for (const each of [a, b]) await each.sees('dead-1', 'dead-2');
    expect([a.adopted, b.adopted]).toEqual([left.get('dead-1'), left.get('dead-2')]);
  });

  it('adopt several that died at once', async () => {
    const { survivor, deadWith, isForgotten } = startEstate();
    const me = await survivor('me');
    const left = [
      ...(await deadWith('dead-1', { jobCount: 2, fresh: ['x'] })),
      ...(await deadWith('dead-2', { jobCount: 2, fresh: ['y'] })),
    ];
    await me.sees('dead-1', 'dead-2');
    expect([unique(me.adopted), unique(me.messages)]).toEqual([unique(left), ['x', 'y']]);
    expect([await isForgotten('dead-1'), await isForgotten('dead-2')]).toEqual([true, true]);
  });
});

describe('an instance that may not adopt', () => {
  it('does nothing while it may itself have been taken for dead, and does it later', async () => {
    const { survivor, deadWith, done, isForgotten } = startEstate();
    const me = await survivor('me');
    await deadWith('dead', { jobCount: 1, fresh: ['x'] });
    me.state.isFenced = true;
    await me.sees('dead');
    expect([done, me.stores.calls()]).toEqual([[], 0]);
    me.state.isFenced = false;
    await me.sees('dead');
    expect(await isForgotten('dead')).toBe(true);
  });

  it('does nothing while it is not among the living itself', async () => {
    const { survivor, deadWith, instances, done, clock } = startEstate();
    const me = await survivor('me');
    await deadWith('dead', { jobCount: 1 });
    await instances.leave({ instanceId: 'me', incarnation: 'me-1' });
    await me.sees('dead');
    await clock.advance(10 * TURN_MS);
    await me.sees('dead');
    expect(done).toEqual([]);
  });

  it('forgets since when one is dead that is not named any more', async () => {
    const { survivor, deadWith, clock } = startEstate();
    await survivor('a');
    const b = await survivor('b');
    await deadWith('dead', { jobCount: 1 });
    await b.sees('dead');
    await clock.advance(TURN_MS);
    await b.sees();
    await b.sees('dead');
    expect(b.adopted).toEqual([]);
    await clock.advance(TURN_MS);
    await b.sees('dead');
    expect(b.adopted).toHaveLength(1);
  });
});

describe('an instance that is started again under its name', () => {
  it('keeps what its new life drives; what its former life drove is adopted', async () => {
    const { survivor, deadWith, announce, jobs, isForgotten, inbox } = startEstate();
    const me = await survivor('me');
    const [old] = await deadWith('reborn', { jobCount: 1, fresh: ['for its new life'] });
    await announce('reborn', 'reborn-2');
    const { jobId } = await jobs.add('reborn/reborn-2');
    await me.sees('reborn');
    expect(me.adopted).toEqual([old]);
    expect(jobs.driver(jobId)).toBe('reborn/reborn-2');
    expect(jobs.drivenIn('reborn')).toEqual([jobId]);
    expect([me.messages, await isForgotten('reborn')]).toEqual([[], false]);
    expect(await inbox.send('reborn', 'more')).toBe('sent');
  });

  it('keeps what it took back while another had only begun to take it', async () => {
    const { survivor, deadWith, announce, jobs, clock } = startEstate();
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
    expect(me.adopted).toHaveLength(32);
  });

  it('keeps its indexes and its name if it comes back while its inbox is emptied', async () => {
    const { survivor, deadWith, announce, done } = startEstate();
    const me = await survivor('me');
    await deadWith('reborn', { fresh: ['x', 'y'] });
    me.state.receive = async (text) => {
      if (text === 'y') await announce('reborn', 'reborn-2');
    };
    await me.sees('reborn');
    expect(done.filter((what) => /inbox|settled|indexes|name/.test(what))).toEqual([]);
  });

  it('keeps its indexes and its name if it comes back after its inbox was closed', async () => {
    const { survivor, deadWith, announce, done, clock } = startEstate();
    const me = await survivor('me');
    await deadWith('reborn', {});
    me.stores.plan({ method: 'drivenBy', at: [2], fault: { answerDelayMs: 10 } });
    await me.sees('reborn');
    expect(done.at(-2)).toBe('inbox of reborn closed');
    await announce('reborn', 'reborn-2');
    await clock.advance(10);
    expect(done.filter((what) => /settled|indexes|name/.test(what))).toEqual([]);
  });

  it('takes over what its former life drove', async () => {
    const { survivor, deadWith, jobs } = startEstate();
    const old = await deadWith('me', { jobCount: 2 });
    const me = await survivor('me', { incarnation: 'me-2' });
    await me.takeover.ownPast();
    expect(unique(me.adopted)).toEqual(unique(old));
    expect(old.map((jobId) => jobs.driver(jobId))).toEqual(old.map(() => 'me/me-2'));
    expect(unique(jobs.drivenIn('me'))).toEqual(unique(old));
  });

  it('starts although the store cannot tell of its past yet, and takes it over as soon as it can', async () => {
    const { survivor, deadWith, clock } = startEstate();
    const [old] = await deadWith('me', { jobCount: 1 });
    const me = await survivor('me', { incarnation: 'me-2' });
    me.stores.plan({ method: 'drivenBy', fault: 'throw' });
    await me.takeover.ownPast();
    await clock.advance(3 * TURN_MS);
    expect(me.adopted).toEqual([]);
    me.stores.heal();
    await clock.advance(TURN_MS);
    expect(me.adopted).toEqual([old]);
    expect(clock.pending()).toBe(0);
  });
});
