/** Contract of NodeIdClaims: its law as tests, for any adapter. */
import { describe, expect, it } from 'vitest';
import type { ClaimResult, NodeIdClaims } from '../../src/ports/node-id-claims.ts';
import { type Closable, fresh, perTest, times } from './harness.ts';

export interface DirectoryHarness extends Closable {
  readonly nodeIdClaims: NodeIdClaims;
}

/** `maxNodes` is the limit of this one harness. */
export type OpenDirectory = (limits: { maxNodes: number }) => Promise<DirectoryHarness>;

const generationOf = (result: ClaimResult): number => (result.kind === 'claimed' ? result.generation : NaN);

export function nodeIdClaimsContract(name: string, open: OpenDirectory): void {
  describe(`NodeIdClaims: ${name}`, () => {
    const start = perTest(open);

    it('gives a new id to its first claimant, with a generation', async () => {
      const { nodeIdClaims } = await start({ maxNodes: 100 });
      const node = fresh('node');
      expect(await nodeIdClaims.current(node)).toBeUndefined();
      const claim = await nodeIdClaims.claim(node, 'mine');
      expect(claim).toMatchObject({ kind: 'claimed', isReturning: false });
      // 0 means "none" in other places.
      expect(generationOf(claim)).toBeGreaterThan(0);
      expect(await nodeIdClaims.current(node)).toBe(generationOf(claim));
    });

    it('gives the same credential a later generation each time', async () => {
      const { nodeIdClaims } = await start({ maxNodes: 100 });
      const node = fresh('node');
      let newest = 0;
      for (let round = 0; round < 5; round += 1) {
        const claim = await nodeIdClaims.claim(node, 'mine');
        expect(claim).toMatchObject({ kind: 'claimed', isReturning: round > 0 });
        expect(generationOf(claim)).toBeGreaterThan(newest);
        newest = generationOf(claim);
        expect(await nodeIdClaims.current(node)).toBe(newest);
      }
    });

    it('gives concurrent claims distinct generations; the newest wins', async () => {
      const { nodeIdClaims } = await start({ maxNodes: 100 });
      const node = fresh('node');
      const claims = await Promise.all(times(200, () => nodeIdClaims.claim(node, 'mine')));
      const generations = claims.map(generationOf);
      expect(new Set(generations).size).toBe(200);
      expect(generations.some(Number.isNaN)).toBe(false);
      expect(await nodeIdClaims.current(node)).toBe(Math.max(...generations));
      const isNew = claims.filter((claim) => claim.kind === 'claimed' && !claim.isReturning);
      expect(isNew).toHaveLength(1);
    });

    it('refuses an id in use to another credential', async () => {
      const { nodeIdClaims } = await start({ maxNodes: 100 });
      const node = fresh('node');
      const mine = generationOf(await nodeIdClaims.claim(node, 'mine'));
      expect(await nodeIdClaims.claim(node, 'theirs')).toEqual({ kind: 'conflict' });
      expect(await nodeIdClaims.current(node)).toBe(mine);
      expect(await nodeIdClaims.claim(node, 'mine')).toMatchObject({ kind: 'claimed', isReturning: true });
      expect(await nodeIdClaims.claim(node, '')).toEqual({ kind: 'conflict' });
    });

    it('gives an id claimed by several credentials at once to one', async () => {
      const { nodeIdClaims } = await start({ maxNodes: 100 });
      const node = fresh('node');
      const claims = await Promise.all(
        times(60, (index) => nodeIdClaims.claim(node, `credential-${index % 6}`)),
      );
      const winners = new Set(
        claims.flatMap((claim, index) => (claim.kind === 'claimed' ? [index % 6] : [])),
      );
      expect(winners.size).toBe(1);
      expect(claims.filter((claim) => claim.kind === 'claimed')).toHaveLength(10);
      expect(claims.filter((claim) => claim.kind === 'conflict')).toHaveLength(50);
    });

    it('ignores the release of an old generation', async () => {
      const { nodeIdClaims } = await start({ maxNodes: 100 });
      const node = fresh('node');
      const old = generationOf(await nodeIdClaims.claim(node, 'mine'));
      const newest = generationOf(await nodeIdClaims.claim(node, 'mine'));
      expect(await nodeIdClaims.release(node, old)).toBe(false);
      expect(await nodeIdClaims.current(node)).toBe(newest);
      expect(await nodeIdClaims.claim(node, 'theirs')).toEqual({ kind: 'conflict' });
    });

    it('ignores the release of an unknown generation or id', async () => {
      const { nodeIdClaims } = await start({ maxNodes: 100 });
      const node = fresh('node');
      const mine = generationOf(await nodeIdClaims.claim(node, 'mine'));
      expect(await nodeIdClaims.release(node, mine + 1_000)).toBe(false);
      expect(await nodeIdClaims.current(node)).toBe(mine);
      expect(await nodeIdClaims.release(fresh('node'), 1)).toBe(false);
    });

    it('removes the id when its newest generation is released', async () => {
      const { nodeIdClaims } = await start({ maxNodes: 100 });
      const node = fresh('node');
      const mine = generationOf(await nodeIdClaims.claim(node, 'mine'));
      const releases = await Promise.all(times(20, () => nodeIdClaims.release(node, mine)));
      expect(releases.filter(Boolean)).toHaveLength(1);
      expect(await nodeIdClaims.current(node)).toBeUndefined();
      expect(await nodeIdClaims.claim(node, 'theirs')).toMatchObject({ kind: 'claimed' });
      expect(await nodeIdClaims.claim(node, 'mine')).toEqual({ kind: 'conflict' });
    });

    it('never repeats a generation, even after the id was removed', async () => {
      const { nodeIdClaims } = await start({ maxNodes: 100 });
      const node = fresh('node');
      let newest = 0;
      for (let round = 0; round < 3; round += 1) {
        const generation = generationOf(await nodeIdClaims.claim(node, `credential-${round}`));
        expect(generation).toBeGreaterThan(newest);
        expect(await nodeIdClaims.release(node, newest)).toBe(false);
        expect(await nodeIdClaims.current(node)).toBe(generation);
        newest = generation;
        await nodeIdClaims.release(node, newest);
      }
    });

    it('restores a lost claim and protects the id again', async () => {
      const { nodeIdClaims } = await start({ maxNodes: 100 });
      const node = fresh('node');
      const mine = generationOf(await nodeIdClaims.claim(node, 'mine'));
      await nodeIdClaims.release(node, mine);
      expect(await nodeIdClaims.restore(node, 'mine', mine)).toBe(true);
      expect(await nodeIdClaims.restore(node, 'mine', mine)).toBe(true);
      expect(await nodeIdClaims.current(node)).toBe(mine);
      expect(await nodeIdClaims.claim(node, 'theirs')).toEqual({ kind: 'conflict' });
      const next = await nodeIdClaims.claim(node, 'mine');
      expect(next).toMatchObject({ kind: 'claimed', isReturning: true });
      expect(generationOf(next)).toBeGreaterThan(mine);
    });

    it('restores the later generation of a partly lost claim', async () => {
      const { nodeIdClaims } = await start({ maxNodes: 100 });
      const node = fresh('node');
      const kept = generationOf(await nodeIdClaims.claim(node, 'mine'));
      expect(await nodeIdClaims.restore(node, 'mine', kept + 5)).toBe(true);
      expect(await nodeIdClaims.current(node)).toBe(kept + 5);
      expect(generationOf(await nodeIdClaims.claim(node, 'mine'))).toBeGreaterThan(kept + 5);
    });

    it('restores no older generation and no claim of another credential', async () => {
      const { nodeIdClaims } = await start({ maxNodes: 100 });
      const node = fresh('node');
      const old = generationOf(await nodeIdClaims.claim(node, 'mine'));
      const newest = generationOf(await nodeIdClaims.claim(node, 'mine'));
      expect(await nodeIdClaims.restore(node, 'mine', old)).toBe(false);
      expect(await nodeIdClaims.current(node)).toBe(newest);
      await nodeIdClaims.release(node, newest);
      const theirs = generationOf(await nodeIdClaims.claim(node, 'theirs'));
      expect(await nodeIdClaims.restore(node, 'mine', theirs + 1)).toBe(false);
      expect(await nodeIdClaims.current(node)).toBe(theirs);
      expect(await nodeIdClaims.claim(node, 'mine')).toEqual({ kind: 'conflict' });
    });

    it('keeps the orders of an id through claims and releases until they are replaced', async () => {
      const { nodeIdClaims } = await start({ maxNodes: 100 });
      const [node, other] = [fresh('node'), fresh('node')];
      const orders = { isCordoned: true, isDrained: false, reason: 'noisy fan' };
      const first = generationOf(await nodeIdClaims.claim(node, 'mine'));
      expect(await nodeIdClaims.keepOrders(node, first, orders)).toBe(true);
      const second = await nodeIdClaims.claim(node, 'mine');
      expect(second).toMatchObject({ kind: 'claimed', orders });
      await nodeIdClaims.release(node, generationOf(second));
      const third = await nodeIdClaims.claim(node, 'mine');
      expect(third).toMatchObject({ kind: 'claimed', isReturning: false, orders });
      const drained = { isCordoned: false, isDrained: true };
      expect(await nodeIdClaims.keepOrders(node, generationOf(third), drained)).toBe(true);
      const fourth = await nodeIdClaims.claim(node, 'mine');
      expect(fourth).toEqual({ ...fourth, orders: drained });
      expect(await nodeIdClaims.keepOrders(node, generationOf(fourth), undefined)).toBe(true);
      expect(await nodeIdClaims.claim(node, 'mine')).not.toHaveProperty('orders');
      expect(await nodeIdClaims.claim(other, 'mine')).not.toHaveProperty('orders');
    });

    it('writes no orders for an id with a later claim', async () => {
      const { nodeIdClaims } = await start({ maxNodes: 100 });
      const node = fresh('node');
      const old = generationOf(await nodeIdClaims.claim(node, 'mine'));
      await nodeIdClaims.claim(node, 'mine');
      const orders = { isCordoned: true, isDrained: false };
      expect(await nodeIdClaims.keepOrders(node, old, orders)).toBe(false);
      expect(await nodeIdClaims.claim(node, 'mine')).not.toHaveProperty('orders');
    });

    it('separates ids', async () => {
      const { nodeIdClaims } = await start({ maxNodes: 100 });
      const [a, b] = [fresh('node'), fresh('node')];
      const first = generationOf(await nodeIdClaims.claim(a, 'mine'));
      expect(await nodeIdClaims.claim(b, 'theirs')).toMatchObject({ kind: 'claimed' });
      await nodeIdClaims.release(a, first);
      expect(await nodeIdClaims.current(b)).toBeGreaterThan(0);
    });

    it('I11 bounded: refuses new ids at its limit, not known ones', async () => {
      const { nodeIdClaims } = await start({ maxNodes: 3 });
      const nodes = times(20, () => fresh('node'));
      const claims = await Promise.all(nodes.map((node) => nodeIdClaims.claim(node, 'mine')));
      expect(claims.filter((claim) => claim.kind === 'claimed')).toHaveLength(3);
      expect(claims.filter((claim) => claim.kind === 'full')).toHaveLength(17);
      const inside = nodes[claims.findIndex((claim) => claim.kind === 'claimed')] as string;
      const outside = nodes[claims.findIndex((claim) => claim.kind === 'full')] as string;
      expect(await nodeIdClaims.current(outside)).toBeUndefined();
      const again = await nodeIdClaims.claim(inside, 'mine');
      expect(again).toMatchObject({ kind: 'claimed', isReturning: true });
      expect(await nodeIdClaims.claim(inside, 'theirs')).toEqual({ kind: 'conflict' });
      expect(await nodeIdClaims.claim(outside, 'mine')).toEqual({ kind: 'full' });
      await nodeIdClaims.release(inside, generationOf(again));
      expect(await nodeIdClaims.claim(outside, 'mine')).toMatchObject({ kind: 'claimed' });
      expect(await nodeIdClaims.claim(inside, 'mine')).toEqual({ kind: 'full' });
    });
  });
}
