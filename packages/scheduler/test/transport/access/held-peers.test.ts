/** What is held open ends with the rights of its owner. */
import { describe, expect, it } from 'vitest';
import type { Principal } from '../../../src/transport/access/gate.ts';
import { createHeldPeers } from '../../../src/transport/access/held-peers.ts';
import { createManualClock } from '../../support/manual-clock.ts';

const GRACE_MS = 30_000;

function rig() {
  const clock = createManualClock();
  const revoked = new Set<string>();
  const held = createHeldPeers({
    clock,
    isCurrent: ({ credential }) => !revoked.has(credential),
    graceMs: GRACE_MS,
  });
  const ended: string[] = [];
  const hold = (credential: string, expiresInMs?: number) => {
    const expiry = expiresInMs !== undefined && { expiresAt: clock.now() + expiresInMs };
    const peer: Principal = { role: 'client', roles: new Set(), credential, isAnonymous: false, ...expiry };
    return held.hold(peer, (why) => ended.push(`${credential} ${why}`));
  };
  return { clock, revoked, held, ended, hold };
}

describe('held peers', () => {
  it('a recheck ends those of revoked credentials, each once', () => {
    const { revoked, held, ended, hold } = rig();
    for (const credential of ['a', 'a', 'b']) hold(credential);
    revoked.add('a');
    expect(held.recheck()).toBe(2);
    expect(held.recheck()).toBe(0);
    expect(ended).toEqual(['a revoked', 'a revoked']);
  });

  it('a token ends at its expiry, and one used in its grace at the end of the grace', async () => {
    const { clock, ended, hold } = rig();
    hold('long', 60_000);
    hold('late', -10_000);
    await clock.advance(GRACE_MS - 10_000 - 1);
    expect(ended).toEqual([]);
    await clock.advance(1);
    expect(ended).toEqual(['late expired']);
    await clock.advance(40_000);
    expect(ended).toEqual(['late expired', 'long expired']);
  });

  it('one that ends by itself is forgotten, with its timer', async () => {
    const { clock, revoked, held, ended, hold } = rig();
    hold('a', 1_000)();
    expect(clock.pending()).toBe(0);
    revoked.add('a');
    expect(held.recheck()).toBe(0);
    await clock.advance(2_000);
    expect(ended).toEqual([]);
  });

  it('a credential that was revoked before it is held ends at once', () => {
    const { revoked, held, ended, hold } = rig();
    revoked.add('a');
    hold('a');
    expect(ended).toEqual(['a revoked']);
    expect(held.recheck()).toBe(0);
  });
});
