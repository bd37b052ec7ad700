/** Mailboxes of many instances: the instance that hands a job over knows its driver. */
import { expect, it } from 'vitest';
import { createCapacityLedger } from '../../../src/adapters/memory/capacity-ledger.ts';
import { createNodeMailbox } from '../../../src/adapters/memory/node-mailbox.ts';
import { guardMailbox } from '../../../src/cluster/guards/mailbox.ts';
import { createDriverCache } from '../../../src/cluster/holder/driver-cache.ts';
import { leaseId } from '../../../src/domain/lease.ts';
import { createManualClock } from '../../support/manual-clock.ts';

const NOW = { max: 9, waitMs: 0 };

it('a job taken from a mailbox puts its driver into the cache', async () => {
  const clock = createManualClock();
  const ledger = createCapacityLedger({ clock });
  await ledger.declare('node', { slots: 9, isAccepting: true });
  const mailbox = createNodeMailbox<string>({ clock, maxPerNode: 9, ledger });
  const instance = (driver: string) => {
    const driverCache = createDriverCache({ clock, keepMs: 90_000 });
    return { driverCache, mailbox: guardMailbox({ mailbox, driver: () => driver, driverCache }) };
  };
  const [a, b] = [instance('a/1'), instance('b/1')];
  const entry = (jobId: string) => {
    const slot = { lease: leaseId(jobId, 1), ttlMs: 60_000 };
    ledger.reserve('node', slot.lease, 5_000);
    return { jobId, expiresAt: clock.now() + 1_000, body: 'hello', slot };
  };
  await a.mailbox.put('node', entry('of-a'));
  await b.mailbox.put('node', entry('of-b'));
  // An entry without a driver.
  await mailbox.put('node', entry('without-driver'));
  const taken = await b.mailbox.take('node', NOW);
  expect(taken.map(({ jobId, body }) => `${jobId} ${body}`)).toEqual([
    'of-a hello',
    'of-b hello',
    'without-driver hello',
  ]);
  expect(['of-a', 'of-b', 'without-driver'].map(b.driverCache.find)).toEqual(['a/1', undefined, undefined]);
  expect(a.driverCache.size()).toBe(0);
});
