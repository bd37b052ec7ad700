/** Contract of Instances: its law as tests, for any adapter. */
import { describe, expect, it } from 'vitest';
import type { Instance, Instances } from '../../src/ports/instances.ts';
import { type Closable, edgeOf, fresh, perTest, type Timed, times } from './harness.ts';

export interface InstancesHarness extends Timed, Closable {
  readonly instances: Instances;
}

const LONG_MS = 60_000;
const SHORT_MS = 300;

const make = (parts: Partial<Instance> = {}): Instance => ({
  instanceId: fresh('instance'),
  incarnation: fresh('incarnation'),
  startedAt: 1_700_000_000_000,
  hostname: 'host-ä',
  pid: 4711,
  version: '1.2.3',
  advertiseUrl: 'http://10.0.0.1:5010',
  ...parts,
});

export function instancesContract(name: string, open: () => Promise<InstancesHarness>): void {
  describe(`Instances: ${name}`, () => {
    const start = perTest(open);
    const find = async (instances: Instances, { instanceId }: Instance) =>
      (await instances.living([instanceId])).get(instanceId);

    it('returns every announced instance with its data', async () => {
      const { instances } = await start();
      const [one, other] = [make(), make({ advertiseUrl: undefined })];
      expect(await instances.announce(one, LONG_MS)).toBe('announced');
      expect(await instances.announce(other, LONG_MS)).toBe('announced');
      const living = await instances.living([one.instanceId, fresh('unknown'), other.instanceId]);
      expect([...living.keys()].sort()).toEqual([one.instanceId, other.instanceId].sort());
      expect(living.get(one.instanceId)).toEqual(one);
      expect([...(await instances.all())].sort()).toEqual([one.instanceId, other.instanceId].sort());
    });

    it('a presence ends without renewal, and the name stays listed', async () => {
      const { instances, ...timed } = await start();
      const one = make();
      await instances.announce(one, SHORT_MS);
      await timed.advance(SHORT_MS + edgeOf(timed));
      expect(await find(instances, one)).toBeUndefined();
      expect(await instances.all()).toEqual([one.instanceId]);
    });

    it('counts the time from the last renewal', async () => {
      const { instances, ...timed } = await start();
      const one = make();
      await instances.announce(one, SHORT_MS);
      expect(await instances.renew(one, LONG_MS)).toMatchObject({ kind: 'renewed' });
      await timed.advance(SHORT_MS + edgeOf(timed));
      expect(await find(instances, one)).toEqual(one);
    });

    it('refuses the name of a live instance to all other incarnations', async () => {
      const { instances } = await start();
      const claims = times(20, () => make({ instanceId: 'wanted' }));
      const results = await Promise.all(claims.map((claim) => instances.announce(claim, LONG_MS)));
      expect(results.filter((result) => result === 'announced')).toHaveLength(1);
      const winner = claims[results.indexOf('announced')];
      expect(winner && (await find(instances, winner))).toEqual(winner);
    });

    it('keeps the first data when an incarnation announces itself again', async () => {
      const { instances } = await start();
      const one = make();
      await instances.announce(one, LONG_MS);
      expect(await instances.announce({ ...one, startedAt: 5, version: '9' }, LONG_MS)).toBe('announced');
      expect(await find(instances, one)).toEqual(one);
    });

    it('gives the name of a dead instance to the next incarnation', async () => {
      const { instances, ...timed } = await start();
      const dead = make();
      await instances.announce(dead, SHORT_MS);
      await timed.advance(SHORT_MS + edgeOf(timed));
      const next = make({ instanceId: dead.instanceId });
      expect(await instances.announce(next, LONG_MS)).toBe('announced');
      expect(await instances.renew(dead, LONG_MS)).toMatchObject({ kind: 'lost' });
      expect(await find(instances, next)).toEqual(next);
    });

    it('a late renewal restores the presence if no death was declared', async () => {
      const { instances, ...timed } = await start();
      const one = make();
      await instances.announce(one, SHORT_MS);
      await timed.advance(SHORT_MS + edgeOf(timed));
      expect(await instances.renew(one, LONG_MS)).toMatchObject({ kind: 'revived' });
      expect(await find(instances, one)).toEqual(one);
      expect(await instances.renew(one, LONG_MS)).toMatchObject({ kind: 'renewed' });
    });

    it('refuses every renewal after a declared death', async () => {
      const { instances, ...timed } = await start();
      const one = make();
      await instances.announce(one, SHORT_MS);
      await timed.advance(SHORT_MS + edgeOf(timed));
      expect(await instances.declareDead(one.instanceId)).toBe('dead');
      expect(await instances.declareDead(one.instanceId)).toBe('dead');
      for (let again = 0; again < 3; again += 1) {
        expect(await instances.renew(one, SHORT_MS)).toMatchObject({ kind: 'lost' });
        await timed.advance(SHORT_MS + edgeOf(timed));
      }
      expect(await find(instances, one)).toBeUndefined();
      expect(await instances.all()).toEqual([one.instanceId]);
    });

    it('does not declare a live instance dead', async () => {
      const { instances } = await start();
      const one = make();
      await instances.announce(one, LONG_MS);
      expect(await instances.declareDead(one.instanceId)).toBe('living');
      expect(await instances.renew(one, LONG_MS)).toMatchObject({ kind: 'renewed' });
      expect(await find(instances, one)).toEqual(one);
    });

    it('either a late renewal or a declared death succeeds, never both', async () => {
      const { instances, ...timed } = await start();
      const late = times(20, () => make());
      for (const one of late) await instances.announce(one, SHORT_MS);
      await timed.advance(SHORT_MS + edgeOf(timed));
      const outcomes = await Promise.all(
        late.map(async (one, index) => {
          const renew = () => instances.renew(one, LONG_MS).then(({ kind }) => kind);
          const declare = () => instances.declareDead(one.instanceId);
          const both = index % 2 === 0 ? [renew(), declare()] : [declare(), renew()];
          return (await Promise.all(both)).sort().join(' and ');
        }),
      );
      for (const outcome of outcomes) expect(['living and revived', 'dead and lost']).toContain(outcome);
    });

    it('gives the name to a new incarnation after a declared death', async () => {
      const { instances } = await start();
      const [dead, next] = [make({ instanceId: 'again' }), make({ instanceId: 'again' })];
      expect(await instances.declareDead('again')).toBe('dead');
      expect(await instances.announce(next, LONG_MS)).toBe('announced');
      expect(await instances.renew(next, LONG_MS)).toMatchObject({ kind: 'renewed' });
      expect(await instances.renew(dead, LONG_MS)).toMatchObject({ kind: 'lost' });
      expect(await instances.declareDead('again')).toBe('living');
    });

    it('answers every renewal with the time of the store', async () => {
      const { instances, ...timed } = await start();
      const one = make();
      await instances.announce(one, LONG_MS);
      const { at } = await instances.renew(one, LONG_MS);
      await timed.advance(SHORT_MS);
      const { at: later } = await instances.renew({ ...one, incarnation: 'another' }, LONG_MS);
      expect(Number.isSafeInteger(at)).toBe(true);
      expect(at).toBeGreaterThan(1_600_000_000_000);
      expect(later - at).toBeGreaterThanOrEqual(SHORT_MS - 1);
      expect(later - at).toBeLessThan(LONG_MS);
    });

    it('an instance leaves only by its own incarnation', async () => {
      const { instances } = await start();
      const one = make();
      await instances.announce(one, LONG_MS);
      await instances.leave({ instanceId: one.instanceId, incarnation: 'another' });
      expect(await find(instances, one)).toEqual(one);
      await instances.leave(one);
      await instances.leave(one);
      expect(await find(instances, one)).toBeUndefined();
      expect(await instances.renew(one, LONG_MS)).toMatchObject({ kind: 'lost' });
      expect(await instances.all()).toEqual([one.instanceId]);
    });

    it('removes the name of a dead instance, never of a live one', async () => {
      const { instances } = await start();
      const [dead, living] = [make(), make()];
      await instances.announce(dead, LONG_MS);
      await instances.announce(living, LONG_MS);
      await instances.leave(dead);
      await instances.remove(dead.instanceId);
      await instances.remove(dead.instanceId);
      expect(await instances.remove(living.instanceId)).toBe('living');
      expect(await instances.all()).toEqual([living.instanceId]);
    });

    it('a graceful leave is not a death, also after a declaration', async () => {
      const { instances } = await start();
      const [left, dead] = [make(), make()];
      await instances.announce(left, LONG_MS);
      await instances.leave(left);
      for (const { instanceId } of [left, dead]) await instances.declareDead(instanceId);
      expect(await instances.remove(left.instanceId)).toBe('left');
      expect(await instances.remove(dead.instanceId)).toBe('died');
    });

    it('a renewal restores an instance that the store has lost', async () => {
      const { instances } = await start();
      const one = make();
      expect(await instances.renew(one, LONG_MS)).toMatchObject({ kind: 'revived' });
      expect(await find(instances, one)).toEqual(one);
      expect(await instances.all()).toEqual([one.instanceId]);
    });
  });
}
