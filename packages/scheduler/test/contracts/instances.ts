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

    it('knows who announced itself, with everything it said', async () => {
      const { instances } = await start();
      const [one, other] = [make(), make({ advertiseUrl: undefined })];
      expect(await instances.announce(one, LONG_MS)).toBe('announced');
      expect(await instances.announce(other, LONG_MS)).toBe('announced');
      const living = await instances.living([one.instanceId, fresh('nobody'), other.instanceId]);
      expect([...living.keys()].sort()).toEqual([one.instanceId, other.instanceId].sort());
      expect(living.get(one.instanceId)).toEqual(one);
      expect([...(await instances.all())].sort()).toEqual([one.instanceId, other.instanceId].sort());
    });

    it('lets nobody live beyond its time without renewal, and forgets no name', async () => {
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

    it('gives a living name to no other incarnation, however many try at once', async () => {
      const { instances } = await start();
      const claims = times(20, () => make({ instanceId: 'wanted' }));
      const results = await Promise.all(claims.map((claim) => instances.announce(claim, LONG_MS)));
      expect(results.filter((result) => result === 'announced')).toHaveLength(1);
      const winner = claims[results.indexOf('announced')];
      expect(winner && (await find(instances, winner))).toEqual(winner);
    });

    it('keeps what was said first when the same incarnation announces itself again', async () => {
      const { instances } = await start();
      const one = make();
      await instances.announce(one, LONG_MS);
      expect(await instances.announce({ ...one, startedAt: 5, version: '9' }, LONG_MS)).toBe('announced');
      expect(await find(instances, one)).toEqual(one);
    });

    it('gives the name of a dead one to the next, whose renewal the dead one has lost', async () => {
      const { instances, ...timed } = await start();
      const dead = make();
      await instances.announce(dead, SHORT_MS);
      await timed.advance(SHORT_MS + edgeOf(timed));
      const next = make({ instanceId: dead.instanceId });
      expect(await instances.announce(next, LONG_MS)).toBe('announced');
      expect(await instances.renew(dead, LONG_MS)).toMatchObject({ kind: 'lost' });
      expect(await find(instances, next)).toEqual(next);
    });

    it('lets one come back that was silent for too long, with everything it said, if nobody took it for dead', async () => {
      const { instances, ...timed } = await start();
      const one = make();
      await instances.announce(one, SHORT_MS);
      await timed.advance(SHORT_MS + edgeOf(timed));
      expect(await instances.renew(one, LONG_MS)).toMatchObject({ kind: 'revived' });
      expect(await find(instances, one)).toEqual(one);
      expect(await instances.renew(one, LONG_MS)).toMatchObject({ kind: 'renewed' });
    });

    it('brings nobody back who was declared dead, however long it renews', async () => {
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

    it('declares nobody dead who lives', async () => {
      const { instances } = await start();
      const one = make();
      await instances.announce(one, LONG_MS);
      expect(await instances.declareDead(one.instanceId)).toBe('living');
      expect(await instances.renew(one, LONG_MS)).toMatchObject({ kind: 'renewed' });
      expect(await find(instances, one)).toEqual(one);
    });

    it('lets either a late renewal or a declaration of death succeed, never both', async () => {
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

    it('gives the name of one that was declared dead to the next incarnation', async () => {
      const { instances } = await start();
      const [dead, next] = [make({ instanceId: 'again' }), make({ instanceId: 'again' })];
      expect(await instances.declareDead('again')).toBe('dead');
      expect(await instances.announce(next, LONG_MS)).toBe('announced');
      expect(await instances.renew(next, LONG_MS)).toMatchObject({ kind: 'renewed' });
      expect(await instances.renew(dead, LONG_MS)).toMatchObject({ kind: 'lost' });
      expect(await instances.declareDead('again')).toBe('living');
    });

    it('answers a renewal with the time of the store, whatever came of it', async () => {
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

    it('lets one go of its own accord, and only by its own incarnation', async () => {
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

    it('removes the name of a dead one, never of a living one', async () => {
      const { instances } = await start();
      const [dead, living] = [make(), make()];
      await instances.announce(dead, LONG_MS);
      await instances.announce(living, LONG_MS);
      await instances.leave(dead);
      await instances.remove(dead.instanceId);
      await instances.remove(dead.instanceId);
      await instances.remove(living.instanceId);
      expect(await instances.all()).toEqual([living.instanceId]);
    });

    it('knows again by its renewal whom it has forgotten altogether', async () => {
      const { instances } = await start();
      const one = make();
      expect(await instances.renew(one, LONG_MS)).toMatchObject({ kind: 'revived' });
      expect(await find(instances, one)).toEqual(one);
      expect(await instances.all()).toEqual([one.instanceId]);
    });
  });
}
