/** An instance among others: alive, fenced, taken for dead, gone. */
import { describe, expect, it } from 'vitest';
import { about, SETTINGS, startPresences } from './presence-rig.ts';

describe('presence', () => {
  it('keeps an instance alive for as long as it renews, with the start it had', async () => {
    const { clock, store, join } = startPresences();
    const { presence } = join('a');
    expect(await presence.start()).toBe('started');
    await clock.advance(60_000);
    expect((await store().living(['a'])).get('a')).toEqual(about('a'));
    expect(presence.isFenced()).toBe(false);
  });

  it('refuses a name that another incarnation lives under', async () => {
    const { clock, store, join } = startPresences();
    await store().announce({ ...about('a'), incarnation: 'somebody else' }, 60_000);
    const starting = join('a').presence.start();
    await clock.advance(2 * SETTINGS.ttlMs);
    expect(await starting).toBe('taken');
    expect((await store().living(['a'])).get('a')?.incarnation).toBe('somebody else');
  });

  it('waits for the presence of its former self to end, as after a crash', async () => {
    const { clock, store, join } = startPresences();
    await store().announce({ ...about('a'), incarnation: 'crashed' }, SETTINGS.ttlMs);
    const { presence, heard } = join('a');
    const starting = presence.start();
    await clock.advance(SETTINGS.ttlMs + SETTINGS.intervalMs);
    expect(await starting).toBe('started');
    expect((await store().living(['a'])).get('a')).toEqual(about('a'));
    await clock.advance(60_000);
    expect(presence.isFenced()).toBe(false);
    expect(heard).toMatchObject({ lost: 0, emptied: 0 });
  });

  it('is fenced as soon as its last renewal is older than its life, not before', async () => {
    const { clock, join } = startPresences();
    const { presence, way } = join('a');
    await presence.start();
    way.isCut = true;
    await clock.advance(SETTINGS.ttlMs);
    expect(presence.isFenced()).toBe(false);
    await clock.advance(1);
    expect(presence.isFenced()).toBe(true);
  });

  it('counts its life from when the renewal was sent, however late the answer is', async () => {
    const { clock, join } = startPresences();
    const { presence, way } = join('a');
    await presence.start();
    way.backMs = 3_000;
    // Sent after 2 s, answered after 5 s, so it lives until 6 s.
    await clock.advance(5_500);
    expect(presence.isFenced()).toBe(false);
    await clock.advance(600);
    expect(presence.isFenced()).toBe(true);
  });

  it('comes back by itself when the store does, if nobody noticed', async () => {
    const { clock, join } = startPresences();
    const { presence, way, heard } = join('a');
    await presence.start();
    await clock.advance(1_000);
    way.isCut = true;
    await clock.advance(2_200);
    way.isCut = false;
    await clock.advance(SETTINGS.intervalMs);
    expect(presence.isFenced()).toBe(false);
    expect(presence.self().incarnation).toBe('a-1');
    expect(heard.lost).toBe(0);
  });

  it('says that it was lost, and goes on as a new incarnation, when it was taken for dead meanwhile', async () => {
    const { clock, store, join } = startPresences();
    const { presence, way, heard } = join('a');
    await presence.start();
    way.isCut = true;
    await clock.advance(10_000);
    expect(heard.lost).toBe(0);
    expect(await store().declareDead('a')).toBe('dead');
    way.isCut = false;
    await clock.advance(SETTINGS.intervalMs);
    expect(heard).toMatchObject({ lost: 1, reborn: 1 });
    expect(presence.self().incarnation).toBe('a-2');
    expect(presence.isFenced()).toBe(false);
    expect((await store().living(['a'])).get('a')?.incarnation).toBe('a-2');
  });

  it('tells the survivors who died, and only those', async () => {
    const { clock, join } = startPresences();
    const [a, b, c] = [join('a'), join('b'), join('c')];
    for (const { presence } of [a, b, c]) await presence.start();
    await clock.advance(10_000);
    b.way.isCut = true;
    await clock.advance(SETTINGS.ttlMs + SETTINGS.intervalMs);
    expect(a.heard.died.at(-1)).toEqual(['b']);
    expect(c.heard.died.at(-1)).toEqual(['b']);
    expect(b.heard.died).toEqual([]);
  });

  it('tells at once who left of its own accord', async () => {
    const { clock, join } = startPresences();
    const [a, b] = [join('a'), join('b')];
    for (const { presence } of [a, b]) await presence.start();
    await clock.advance(10_000);
    await b.presence.stop();
    await clock.advance(SETTINGS.intervalMs);
    expect(a.heard.died.at(-1)).toEqual(['b']);
  });

  it('takes nobody for dead before everybody had time to come back after an outage', async () => {
    const { clock, join } = startPresences();
    const [a, b] = [join('a'), join('b')];
    for (const { presence } of [a, b]) await presence.start();
    await clock.advance(10_000);
    a.way.isCut = true;
    b.way.isCut = true;
    await clock.advance(20_000);
    a.way.isCut = false;
    await clock.advance(2 * SETTINGS.ttlMs - SETTINGS.intervalMs);
    expect(a.heard.died).toEqual([]);
    await clock.advance(2 * SETTINGS.intervalMs);
    expect(a.heard.died.at(-1)).toEqual(['b']);
  });

  it('I9 nothing to the dead: what it knows of others is never older than its limit', async () => {
    const { clock, join } = startPresences();
    const [a, b] = [join('a'), join('b')];
    for (const { presence } of [a, b]) await presence.start();
    await clock.advance(2_000);
    expect([...(await a.presence.living()).keys()].sort()).toEqual(['a', 'b']);
    await b.presence.stop();
    await clock.advance(SETTINGS.viewMs + 1);
    expect([...(await a.presence.living()).keys()]).toEqual(['a']);
  });

  it('looks again for one that is expected and was not there, a moment after the last look', async () => {
    const { clock, join } = startPresences();
    const [a, b] = [join('a'), join('b')];
    await a.presence.start();
    const before = await a.presence.living();
    await b.presence.start();
    expect(await a.presence.living('a')).toBe(before);
    const asked = Promise.all(['b', 'b', 'nobody'].map((name) => a.presence.living(name)));
    await clock.advance(24);
    expect(await a.presence.living()).toBe(before);
    await clock.advance(1);
    const views = await asked;
    expect(views.map((view) => view.has('b'))).toEqual([true, true, true]);
  });
});
