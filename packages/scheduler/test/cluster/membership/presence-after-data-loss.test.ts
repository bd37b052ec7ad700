/** Presence when the store loses data, goes back in time, or was away for long: nobody is taken for dead who is not. */
import { describe, expect, it } from 'vitest';
import { DEATH_REMEMBERED_MS } from '../../../src/ports/instances.ts';
import { SETTINGS, startPresences } from './presence-rig.ts';

async function startThree() {
  const rig = startPresences();
  const [a, b, c] = [rig.join('a'), rig.join('b'), rig.join('c')];
  const all = [a, b, c];
  for (const { presence } of all) await presence.start();
  await rig.clock.advance(10_000);
  return { ...rig, a, b, c, all };
}

describe('presence on a store that loses data', () => {
  it('goes on under the same incarnation when the store was emptied, and says so once', async () => {
    const { clock, store, empty, all } = await startThree();
    empty();
    await clock.advance(2 * SETTINGS.intervalMs);
    for (const { heard, presence } of all) {
      expect(heard).toEqual({ lost: 0, reborn: 0, emptied: 1, died: [], fencedWhenEmptied: false });
      expect(presence.self().incarnation).toMatch(/-1$/);
    }
    expect([...(await store().living(['a', 'b', 'c'])).keys()]).toEqual(['a', 'b', 'c']);
    await clock.advance(60_000);
    for (const { heard } of all) expect(heard).toMatchObject({ lost: 0, reborn: 0, emptied: 1, died: [] });
  });

  it('is renewed as soon as somebody asks who lives, not with its next turn, and once', async () => {
    const { clock, empty, all, a } = await startThree();
    empty();
    for (let asked = 0; asked < 4; asked += 1) {
      void a.presence.living('nobody');
      await clock.advance(SETTINGS.viewMs / 10);
    }
    expect(all.map(({ heard }) => heard.emptied)).toEqual([1, 0, 0]);
    await clock.advance(2 * SETTINGS.intervalMs);
    expect(all.map(({ heard }) => heard.emptied)).toEqual([1, 1, 1]);
  });

  it('takes nobody for dead for two lives after the store was emptied, then those that stay away', async () => {
    const { clock, store, empty, a, b } = await startThree();
    empty();
    b.way.isCut = true;
    // The name alone has survived, as it may where it lies on another server.
    await store().announce({ ...b.presence.self() }, 1);
    await clock.advance(2 * SETTINGS.ttlMs - 1);
    expect(a.heard.died).toEqual([]);
    await clock.advance(3 * SETTINGS.intervalMs);
    expect(a.heard.died.at(-1)).toEqual(['b']);
  });

  it('is not lost after an outage in which every presence ended, and nobody else is', async () => {
    const { clock, all } = await startThree();
    for (const { way } of all) way.isCut = true;
    await clock.advance(30_000);
    for (const { presence } of all) expect(presence.isFenced()).toBe(true);
    for (const { way } of all) way.isCut = false;
    await clock.advance(30_000);
    for (const { heard, presence } of all) {
      expect(heard).toEqual({ lost: 0, reborn: 0, emptied: 1, died: [], fencedWhenEmptied: false });
      expect(presence.isFenced()).toBe(false);
    }
  });

  it('is lost when another incarnation got its name from a store that had forgotten it', async () => {
    const { clock, store, empty, a } = await startThree();
    empty();
    await store().announce({ ...a.presence.self(), incarnation: 'usurper' }, 5_000);
    await clock.advance(SETTINGS.intervalMs);
    expect(a.heard).toMatchObject({ lost: 1, emptied: 0 });
    // However fresh its last renewal was, it is fenced until the name is its own again.
    expect(a.presence.isFenced()).toBe(true);
    await clock.advance(2 * SETTINGS.intervalMs);
    expect(a.presence.isFenced()).toBe(false);
    expect(a.presence.self().incarnation).toBe('a-2');
    expect(a.heard.lost).toBe(1);
  });

  it('does not say twice that it was lost when the store goes away before it is back', async () => {
    const { clock, store, a } = await startThree();
    a.way.isCut = true;
    await clock.advance(2 * SETTINGS.ttlMs);
    await store().declareDead('a');
    // It hears of its death, and then nothing more for a while.
    const { announce } = store();
    let refusals = 2;
    store().announce = (...args) =>
      refusals-- > 0 ? Promise.reject(new Error('away again')) : announce(...args);
    a.way.isCut = false;
    await clock.advance(3 * SETTINGS.intervalMs);
    expect(a.heard.lost).toBe(1);
    expect(a.presence.isFenced()).toBe(false);
  });

  it('begins anew once, though it finds by two of its clocks that it was lost, and the store is slow', async () => {
    const { clock, store, empty, a } = await startThree();
    empty();
    const { announce } = store();
    await announce({ ...a.presence.self(), incarnation: 'usurper' }, SETTINGS.viewMs);
    store().announce = async (...args) => {
      await new Promise<void>((resolve) => clock.after(2 * SETTINGS.intervalMs, resolve));
      return announce(...args);
    };
    await clock.advance(6 * SETTINGS.intervalMs);
    expect(a.heard).toMatchObject({ lost: 1, reborn: 1 });
    expect(a.presence.self().incarnation).toBe('a-2');
  });

  it('is lost when it was away for so long that its death may be forgotten', async () => {
    const { clock, store, a, b } = await startThree();
    a.way.isCut = true;
    await clock.advance(DEATH_REMEMBERED_MS / 4);
    expect(b.heard.died.at(-1)).toEqual(['a']);
    await store().remove('a');
    await clock.advance(2 * DEATH_REMEMBERED_MS);
    a.way.isCut = false;
    await clock.advance(SETTINGS.intervalMs);
    expect(a.heard).toMatchObject({ lost: 1, emptied: 0 });
    expect(a.presence.self().incarnation).toBe('a-2');
    expect((await store().living(['a'])).get('a')?.incarnation).toBe('a-2');
  });

  it('takes nobody for dead by a look beside which its own presence was missing', async () => {
    const { clock, store, a, b } = await startThree();
    const { renew } = store();
    b.way.isCut = true;
    // A replica that became the master without the last writes, again and again.
    store().renew = async (self, ttlMs) => {
      const renewal = await renew(self, ttlMs);
      return self.instanceId === 'a' ? { ...renewal, kind: 'revived' } : renewal;
    };
    await clock.advance(3 * SETTINGS.ttlMs);
    expect(a.heard.died).toEqual([]);
    store().renew = renew;
    await clock.advance(2 * SETTINGS.ttlMs - SETTINGS.intervalMs);
    expect(a.heard.died).toEqual([]);
    await clock.advance(3 * SETTINGS.intervalMs);
    expect(a.heard.died.at(-1)).toEqual(['b']);
  });

  it('takes nobody for dead for two lives after it was told that the store may have lost data', async () => {
    const { clock, a, b } = await startThree();
    b.way.isCut = true;
    await clock.advance(SETTINGS.ttlMs - 1);
    a.presence.freeze();
    await clock.advance(2 * SETTINGS.ttlMs - 1);
    expect(a.heard.died).toEqual([]);
    await clock.advance(SETTINGS.intervalMs + 1);
    expect(a.heard.died.at(-1)).toEqual(['b']);
  });

  it('tells of no death that the store denies', async () => {
    const { clock, store, a, b } = await startThree();
    b.way.isCut = true;
    // It renews itself between a's look and a's verdict.
    store().declareDead = async () => 'living';
    await clock.advance(3 * SETTINGS.ttlMs);
    expect(a.heard.died).toEqual([]);
  });

  it('tells of no death when it hears of lost data before the verdict', async () => {
    const { clock, store, a, b } = await startThree();
    const { declareDead } = store();
    store().declareDead = async (instanceId) => {
      a.presence.freeze();
      return declareDead(instanceId);
    };
    b.way.isCut = true;
    await clock.advance(3 * SETTINGS.ttlMs);
    expect(a.heard.died).toEqual([]);
  });

  it('does not come back by a renewal that reaches the store after it left', async () => {
    const { clock, store, a } = await startThree();
    const { renew } = store();
    store().renew = async (self, ttlMs) => {
      if (self.instanceId === 'a') await new Promise<void>((resolve) => clock.after(500, resolve));
      return renew(self, ttlMs);
    };
    await clock.advance(SETTINGS.intervalMs);
    await a.presence.stop();
    await clock.advance(10_000);
    expect((await store().living(['a'])).size).toBe(0);
    expect(a.heard).toMatchObject({ lost: 0, emptied: 0 });
  });

  it('asks the store once for many who want to know who lives', async () => {
    const { clock, store, a } = await startThree();
    const { all } = store();
    let asked = 0;
    const held: (() => void)[] = [];
    store().all = () => {
      asked += 1;
      return new Promise((resolve) => held.push(() => resolve(all())));
    };
    await clock.advance(SETTINGS.viewMs + 1);
    // Each of the three looks by its clock, and has no answer yet.
    expect(asked).toBe(3);
    const views = Promise.all(Array.from({ length: 10 }, () => a.presence.living()));
    for (const answer of held) answer();
    expect((await views).every((view) => view.size === 3)).toBe(true);
    expect(asked).toBe(3);
  });

  it('asks it nothing for those who want to know while what it said is recent, and it always is', async () => {
    const { clock, store, a } = await startThree();
    const { all } = store();
    let asked = 0;
    store().all = () => {
      asked += 1;
      return all();
    };
    const askedFor = async (questions: number): Promise<number> => {
      asked = 0;
      for (let tenth = 0; tenth < 100; tenth += 1) {
        for (let question = 0; question < questions; question += 1)
          expect((await a.presence.living()).size).toBe(3);
        await clock.advance(100);
      }
      return asked;
    };
    const idle = await askedFor(0);
    expect(idle).toBeGreaterThan(30);
    expect(await askedFor(5)).toBeLessThanOrEqual(idle + 3);
  });
});

describe('the time of the store', () => {
  it('is known from the start, however far apart the clocks are', async () => {
    const { clock, join } = startPresences();
    for (const ahead of [-3_600_000, 0, 250]) {
      const { presence } = join(`ahead ${ahead}`, { ahead });
      await presence.start();
      expect(presence.storeNow()).toBe(clock.now());
      await clock.advance(7_777);
      expect(presence.storeNow()).toBe(clock.now());
    }
  });
});
