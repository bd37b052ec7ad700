/** The presence of an instance: alive, fenced, declared dead, left. */
import { describe, expect, it } from 'vitest';
import { about, SETTINGS, startPresences } from './presence-rig.ts';

describe('the presence of an instance', () => {
  it('stays alive with its start time while it is renewed', async () => {
    const { clock, store, join } = startPresences();
    const { presence } = join('a');
    expect(await presence.start()).toBe('started');
    await clock.advance(60_000);
    expect((await store().living(['a'])).get('a')).toEqual(about('a'));
    expect(presence.isFenced()).toBe(false);
  });

  it('is refused a name that a living incarnation uses', async () => {
    const { clock, store, join } = startPresences();
    await store().announce({ ...about('a'), incarnation: 'somebody else' }, 60_000);
    const starting = join('a').presence.start();
    await clock.advance(2 * SETTINGS.ttlMs);
    expect(await starting).toBe('taken');
    expect((await store().living(['a'])).get('a')?.incarnation).toBe('somebody else');
  });

  it('waits until the presence of its previous incarnation ends, after a crash', async () => {
    const { clock, store, join } = startPresences();
    await store().announce({ ...about('a'), incarnation: 'crashed' }, SETTINGS.ttlMs);
    const { presence, received } = join('a');
    const starting = presence.start();
    await clock.advance(SETTINGS.ttlMs + SETTINGS.intervalMs);
    expect(await starting).toBe('started');
    expect((await store().living(['a'])).get('a')).toEqual(about('a'));
    await clock.advance(60_000);
    expect(presence.isFenced()).toBe(false);
    expect(received).toMatchObject({ lost: 0, emptied: 0 });
  });

  it('is fenced exactly when its last renewal is older than the TTL', async () => {
    const { clock, join } = startPresences();
    const { presence, connection } = join('a');
    await presence.start();
    connection.isCut = true;
    await clock.advance(SETTINGS.ttlMs);
    expect(presence.isFenced()).toBe(false);
    await clock.advance(1);
    expect(presence.isFenced()).toBe(true);
  });

  it('counts the TTL from when the renewal was sent', async () => {
    const { clock, join } = startPresences();
    const { presence, connection } = join('a');
    await presence.start();
    connection.backMs = 3_000;
    // Sent after 2 s, answered after 5 s, so it lives until 6 s.
    await clock.advance(5_500);
    expect(presence.isFenced()).toBe(false);
    await clock.advance(600);
    expect(presence.isFenced()).toBe(true);
  });

  it('is unfenced after an outage if it was not declared dead', async () => {
    const { clock, join } = startPresences();
    const { presence, connection, received } = join('a');
    await presence.start();
    await clock.advance(1_000);
    connection.isCut = true;
    await clock.advance(2_200);
    connection.isCut = false;
    await clock.advance(SETTINGS.intervalMs);
    expect(presence.isFenced()).toBe(false);
    expect(presence.self().incarnation).toBe('a-1');
    expect(received.lost).toBe(0);
  });

  it('continues as a new incarnation after it was declared dead', async () => {
    const { clock, store, join } = startPresences();
    const { presence, connection, received } = join('a');
    await presence.start();
    connection.isCut = true;
    await clock.advance(10_000);
    expect(received.lost).toBe(0);
    expect(await store().declareDead('a')).toBe('dead');
    connection.isCut = false;
    await clock.advance(SETTINGS.intervalMs);
    expect(received).toMatchObject({ lost: 1, reincarnated: 1 });
    expect(presence.self().incarnation).toBe('a-2');
    expect(presence.isFenced()).toBe(false);
    expect((await store().living(['a'])).get('a')?.incarnation).toBe('a-2');
  });

  it('reports to the survivors exactly the instances that died', async () => {
    const { clock, join } = startPresences();
    const [a, b, c] = [join('a'), join('b'), join('c')];
    for (const { presence } of [a, b, c]) await presence.start();
    await clock.advance(10_000);
    b.connection.isCut = true;
    await clock.advance(SETTINGS.ttlMs + SETTINGS.intervalMs);
    expect(a.received.died.at(-1)).toEqual(['b']);
    expect(c.received.died.at(-1)).toEqual(['b']);
    expect(b.received.died).toEqual([]);
  });

  it('reports an instance that left at once', async () => {
    const { clock, join } = startPresences();
    const [a, b] = [join('a'), join('b')];
    for (const { presence } of [a, b]) await presence.start();
    await clock.advance(10_000);
    await b.presence.stop();
    await clock.advance(SETTINGS.intervalMs);
    expect(a.received.died.at(-1)).toEqual(['b']);
  });

  it('reports no death until every instance had time to return', async () => {
    const { clock, join } = startPresences();
    const [a, b] = [join('a'), join('b')];
    for (const { presence } of [a, b]) await presence.start();
    await clock.advance(10_000);
    a.connection.isCut = true;
    b.connection.isCut = true;
    await clock.advance(20_000);
    a.connection.isCut = false;
    await clock.advance(2 * SETTINGS.ttlMs - SETTINGS.intervalMs);
    expect(a.received.died).toEqual([]);
    await clock.advance(2 * SETTINGS.intervalMs);
    expect(a.received.died.at(-1)).toEqual(['b']);
  });

  it('I9 nothing to the dead: the view is never older than its limit', async () => {
    const { clock, join } = startPresences();
    const [a, b] = [join('a'), join('b')];
    for (const { presence } of [a, b]) await presence.start();
    await clock.advance(2_000);
    expect([...(await a.presence.living()).keys()].sort()).toEqual(['a', 'b']);
    await b.presence.stop();
    await clock.advance(SETTINGS.viewMs + 1);
    expect([...(await a.presence.living()).keys()]).toEqual(['a']);
  });

  it('reads membership again for an expected instance that was missing', async () => {
    const { clock, join } = startPresences();
    const [a, b] = [join('a'), join('b')];
    await a.presence.start();
    const before = await a.presence.living();
    await b.presence.start();
    expect(await a.presence.living('a')).toBe(before);
    const requested = Promise.all(['b', 'b', 'nobody'].map((name) => a.presence.living(name)));
    await clock.advance(24);
    expect(await a.presence.living()).toBe(before);
    await clock.advance(1);
    const views = await requested;
    expect(views.map((view) => view.has('b'))).toEqual([true, true, true]);
  });
});
