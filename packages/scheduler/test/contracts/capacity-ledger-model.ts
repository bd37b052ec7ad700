/** Contract of CapacityLedger: random histories against a readable model of the law. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type Load, leaseId, leaseJob } from '../../src/domain/lease.ts';
import type { CapacityLedger, NodeCapacity } from '../../src/ports/capacity-ledger.ts';
import { fresh, isStepped, type Timed } from './harness.ts';

const JOBS = 5;

interface Lease {
  expiresAt: number;
  isAbandoned: boolean;
  isCommitted: boolean;
  isReported: boolean;
}

/** The law in one place. Where it leaves the answer open the model lists all answers and follows the one given. */
function createModel(slots: number) {
  let capacity: NodeCapacity = { slots, isAccepting: true };
  let reported = 0;
  let releasedSince = 0;
  let now = 0;
  const leases = new Map<string, Lease>();
  const used = () => Math.max(leases.size, reported - releasedSince);
  return {
    leases,
    load: (): Load => ({ used: used(), max: capacity.slots }),
    declare(next: NodeCapacity) {
      capacity = next;
    },
    reserveAnswers(lease: string): string[] {
      if (leases.has(lease)) return capacity.isAccepting ? ['already'] : ['already', 'not_ready'];
      if (!capacity.isAccepting) return ['not_ready'];
      return [used() < capacity.slots ? 'reserved' : 'full'];
    },
    commit(lease: string, ttlMs: number, isLate: boolean): string {
      const held = leases.get(lease);
      if (!isLate && held === undefined) return 'absent';
      if (!isLate && held?.isAbandoned) return 'abandoned';
      if (held === undefined && leases.size >= capacity.slots) return 'full';
      this.hold(lease, ttlMs);
      leases.set(lease, { ...(leases.get(lease) as Lease), isAbandoned: false, isCommitted: true });
      return 'committed';
    },
    hold(lease: string, ttlMs: number) {
      const held = leases.get(lease) ?? {
        expiresAt: 0,
        isAbandoned: false,
        isCommitted: false,
        isReported: false,
      };
      leases.set(lease, { ...held, expiresAt: Math.max(held.expiresAt, now + ttlMs) });
    },
    release(lease: string): string {
      const held = leases.get(lease);
      if (held === undefined) return 'absent';
      leases.delete(lease);
      if (held.isReported) releasedSince += 1;
      return 'released';
    },
    abandon(lease: string, endsInMs: number | undefined) {
      const held = leases.get(lease);
      if (held === undefined) return;
      held.isAbandoned = true;
      if (endsInMs !== undefined) held.expiresAt = Math.min(held.expiresAt, now + endsInMs);
    },
    report(running: number, named: readonly string[] | undefined, knowsCommitted: boolean) {
      reported = running;
      releasedSince = 0;
      for (const [lease, { isAbandoned, isCommitted }] of leases) {
        const canBeProvenGone = isAbandoned || (isCommitted && knowsCommitted);
        if (canBeProvenGone && named && !named.includes(leaseJob(lease))) leases.delete(lease);
      }
      for (const held of leases.values()) held.isReported = true;
    },
    advance(ms: number) {
      now += ms;
      for (const [lease, { expiresAt }] of leases) if (expiresAt <= now) leases.delete(lease);
    },
  };
}

type Step =
  | { do: 'reserve' | 'commit' | 'commit late' | 'release'; job: number }
  | { do: 'abandon'; job: number; endsInMs: number | undefined }
  | { do: 'declare'; slots: number; isAccepting: boolean }
  | { do: 'report'; running: number; named: number[] | undefined; knowsCommitted: boolean }
  | { do: 'advance'; ms: number };

const job = fc.integer({ min: 0, max: JOBS - 1 });
const onLease = (verb: 'reserve' | 'commit' | 'commit late' | 'release') =>
  fc.record({ do: fc.constant(verb), job });
const steps = (withTime: boolean): fc.Arbitrary<Step[]> =>
  fc.array(
    fc.oneof(
      { weight: 6, arbitrary: onLease('reserve') },
      { weight: 3, arbitrary: onLease('commit') },
      { weight: 3, arbitrary: onLease('release') },
      { weight: 2, arbitrary: onLease('commit late') },
      {
        weight: 2,
        arbitrary: fc.record({
          do: fc.constant('abandon' as const),
          job,
          endsInMs: fc.constantFrom(undefined, ...(withTime ? [20, 60] : []), 60_000),
        }),
      },
      {
        weight: 1,
        arbitrary: fc.record({
          do: fc.constant('declare' as const),
          slots: fc.integer({ min: 0, max: 4 }),
          isAccepting: fc.boolean(),
        }),
      },
      {
        weight: 2,
        arbitrary: fc.record({
          do: fc.constant('report' as const),
          running: fc.integer({ min: 0, max: 4 }),
          named: fc.option(fc.uniqueArray(job), { nil: undefined }),
          knowsCommitted: fc.boolean(),
        }),
      },
      {
        weight: withTime ? 3 : 0,
        arbitrary: fc.record({ do: fc.constant('advance' as const), ms: fc.constantFrom(1, 30, 50, 100) }),
      },
    ),
    { minLength: 1, maxLength: 40 },
  );

export function capacityLedgerModel(start: () => Promise<Timed & { readonly ledger: CapacityLedger }>): void {
  it('agrees with the model of its law after every step of random histories', async () => {
    const harness = await start();
    const { ledger } = harness;
    const hasTime = isStepped(harness);
    const ttlMs = hasTime ? 100 : 60_000;

    async function replay(history: Step[]): Promise<void> {
      const node = fresh('node');
      const jobs = Array.from({ length: JOBS }, () => fresh('job'));
      const lease = (index: number) => leaseId(jobs[index] as string, 1);
      const model = createModel(2);
      await ledger.declare(node, { slots: 2, isAccepting: true });

      const take = async (step: Step): Promise<unknown> => {
        if (step.do === 'advance') {
          model.advance(step.ms);
          return harness.advance(step.ms);
        }
        if (step.do === 'declare') {
          model.declare(step);
          return ledger.declare(node, { slots: step.slots, isAccepting: step.isAccepting });
        }
        if (step.do === 'report') {
          const named = step.named?.map((index) => jobs[index] as string);
          model.report(step.running, named, step.knowsCommitted);
          return ledger.reconcile(node, {
            running: step.running,
            ...(named && { runningJobIds: named }),
            ...(step.knowsCommitted && { takenMs: 0 }),
          });
        }
        const id = lease(step.job);
        if (step.do === 'abandon') {
          model.abandon(id, step.endsInMs);
          return ledger.abandon(node, id, step.endsInMs);
        }
        if (step.do === 'release') {
          const kind = model.release(id);
          const answer = await ledger.release(node, id);
          expect(answer.kind).toBe(kind);
          return answer;
        }
        if (step.do === 'reserve') {
          const answers = model.reserveAnswers(id);
          const answer = await ledger.reserve(node, id, ttlMs);
          expect(answers).toContain(answer.kind);
          if (answer.kind === 'reserved' || answer.kind === 'already') model.hold(id, ttlMs);
          return answer;
        }
        const isLate = step.do === 'commit late';
        const kind = model.commit(id, ttlMs, isLate);
        const answer = await ledger.commit(node, id, ttlMs, isLate);
        expect(answer.kind).toBe(kind);
        return answer;
      };

      for (const step of history) {
        const answer = await take(step);
        expect((await ledger.loads([node])).get(node)).toEqual(model.load());
        if (answer && typeof answer === 'object' && 'used' in answer)
          expect(answer).toMatchObject(model.load());
      }

      // I2: after every lease has ended and the node reports no job, no slot is used.
      for (const id of jobs.keys()) await ledger.release(node, lease(id));
      await ledger.reconcile(node, { running: 0 });
      expect((await ledger.loads([node])).get(node)?.used).toBe(0);
      await ledger.forget(node);
    }

    await fc.assert(fc.asyncProperty(steps(hasTime), replay), { numRuns: hasTime ? 300 : 80 });
  });
}
