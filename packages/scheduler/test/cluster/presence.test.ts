/** An instance among others: alive, fenced, taken for dead, gone. */
import { describe, expect, it } from 'vitest';
import { createInstances } from '../../src/adapters/memory/instances.ts';
import { createPresence } from '../../src/cluster/presence.ts';
import type { Instance, Instances } from '../../src/ports/instances.ts';
import { createManualClock } from '../support/manual-clock.ts';

const SETTINGS = { intervalMs: 2_000, ttlMs: 4_000, viewMs: 1_000 };
const QUIET = { debug() {}, info() {}, warn() {}, error() {} };

function about(instanceId: string): Instance {
  return { instanceId, incarnation: `${instanceId}-1`, startedAt: 1, hostname: 'h', pid: 1, version: '1' };
}

function startRig() {
  const clock = createManualClock();
  const shared = createInstances({ clock });
  /** An instance whose way to the store can be cut. */
  function join(instanceId: string) {
    const way = { isCut: false, hangs: false };
    const guarded = (<K extends keyof Instances>(name: K) =>
      (...args: unknown[]) => {
        if (way.hangs) return new Promise(() => {});
        if (way.isCut) return Promise.reject(new Error('the store is away'));
        return (shared[name] as (...given: unknown[]) => unknown)(...args);
      }) as <K extends keyof Instances>(name: K) => Instances[K];
    const instances: Instances = {
      announce: guarded('announce'),
      renew: guarded('renew'),
      leave: guarded('leave'),
      living: guarded('living'),
      all: guarded('all'),
      remove: guarded('remove'),
    };
    const heard = { lost: 0, died: [] as string[][] };
    let incarnations = 1;
    const presence = createPresence({
      instances,
      clock,
      log: QUIET,
      settings: SETTINGS,
      events: {
        lost: () => {
          heard.lost += 1;
        },
        died: (ids) => heard.died.push([...ids]),
      },
      first: about(instanceId),
      newIncarnation: () => `${instanceId}-${++incarnations}`,
    });
    return { presence, way, heard };
  }
  return { clock, shared, join };
}

describe('presence', () => {
  it('keeps an instance alive for as long as it renews, with the start it had', async () => {
    const { clock, shared, join } = startRig();
    const { presence } = join('a');
    expect(await presence.start()).toBe('started');
    await clock.advance(60_000);
    expect((await shared.living(['a'])).get('a')).toEqual(about('a'));
    expect(presence.isFenced()).toBe(false);
  });

  it('refuses a name that another incarnation lives under', async () => {
    const { shared, join } = startRig();
    await shared.announce({ ...about('a'), incarnation: 'somebody else' }, 10_000);
    expect(await join('a').presence.start()).toBe('taken');
  });

  it('is fenced as soon as its last renewal is older than its life, not before', async () => {
    const { clock, join } = startRig();
    const { presence, way } = join('a');
    await presence.start();
    way.isCut = true;
    await clock.advance(SETTINGS.ttlMs);
    expect(presence.isFenced()).toBe(false);
    await clock.advance(1);
    expect(presence.isFenced()).toBe(true);
  });

  it('counts its life from when the renewal was sent, however late the answer is', async () => {
    const { clock, shared, join } = startRig();
    const { presence } = join('a');
    await presence.start();
    const { renew } = shared;
    shared.renew = async (...args) => {
      const answer = await renew(...args);
      await new Promise<void>((resolve) => clock.after(3_000, resolve));
      return answer;
    };
    // Sent after 2 s, answered after 5 s, so it lives until 6 s.
    await clock.advance(5_500);
    expect(presence.isFenced()).toBe(false);
    await clock.advance(600);
    expect(presence.isFenced()).toBe(true);
  });

  it('comes back by itself when the store does, if nobody noticed', async () => {
    const { clock, join } = startRig();
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

  it('says that it was lost, and goes on as a new incarnation, when its presence ended meanwhile', async () => {
    const { clock, shared, join } = startRig();
    const { presence, way, heard } = join('a');
    await presence.start();
    way.isCut = true;
    await clock.advance(10_000);
    expect(heard.lost).toBe(0);
    way.isCut = false;
    await clock.advance(SETTINGS.intervalMs);
    expect(heard.lost).toBe(1);
    expect(presence.self().incarnation).toBe('a-2');
    expect(presence.isFenced()).toBe(false);
    expect((await shared.living(['a'])).get('a')?.incarnation).toBe('a-2');
  });

  it('tells the survivors who died, and only those', async () => {
    const { clock, join } = startRig();
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
    const { clock, join } = startRig();
    const [a, b] = [join('a'), join('b')];
    for (const { presence } of [a, b]) await presence.start();
    await clock.advance(10_000);
    await b.presence.stop();
    await clock.advance(SETTINGS.intervalMs);
    expect(a.heard.died.at(-1)).toEqual(['b']);
  });

  it('takes nobody for dead before everybody had time to come back after an outage', async () => {
    const { clock, join } = startRig();
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
    const { clock, join } = startRig();
    const [a, b] = [join('a'), join('b')];
    for (const { presence } of [a, b]) await presence.start();
    await clock.advance(2_000);
    expect([...(await a.presence.living()).keys()].sort()).toEqual(['a', 'b']);
    await b.presence.stop();
    await clock.advance(SETTINGS.viewMs + 1);
    expect([...(await a.presence.living()).keys()]).toEqual(['a']);
  });
});
