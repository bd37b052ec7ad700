/** Contract of CapacityLedger, third part: random histories against a readable model of the law. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type Load, leaseId, leaseJob } from '../../src/domain/lease.ts';
import type { CapacityLedger, NodeCapacity } from '../../src/ports/capacity-ledger.ts';
import { fresh, isStepped, type Timed } from './harness.ts';

const JOBS = 5;

/** The law in one place. Where it leaves the answer open the model lists all answers and follows the one given. */
function createModel(slots: number) {
  let capacity: NodeCapacity = { slots, isAccepting: true };
  let reported = 0;
  let releasedSince = 0;
  let now = 0;
  const leases = new Map<string, { expiresAt: number; isFenced: boolean; isReported: boolean }>();
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
    commitAnswers(lease: string): string[] {
      if (leases.has(lease)) return ['committed'];
      return [leases.size < capacity.slots ? 'retaken' : 'lost'];
    },
    hold(lease: string, ttlMs: number) {
      const held = leases.get(lease);
      const { isFenced = false, isReported = false } = held ?? {};
      const expiresAt = Math.max(held?.expiresAt ?? 0, now + ttlMs);
      leases.set(lease, { expiresAt, isFenced, isReported });
    },
    release(lease: string): string {
      const held = leases.get(lease);
      if (held === undefined) return 'absent';
      leases.delete(lease);
      if (held.isReported) releasedSince += 1;
      return 'released';
    },
    fence(lease: string) {
      const held = leases.get(lease);
      if (held) held.isFenced = true;
    },
    report(running: number, named: readonly string[] | undefined) {
      reported = running;
      releasedSince = 0;
      for (const [lease, { isFenced }] of leases)
        if (isFenced && named && !named.includes(leaseJob(lease))) leases.delete(lease);
      for (const held of leases.values()) held.isReported = true;
    },
    advance(ms: number) {
      now += ms;
      for (const [lease, { expiresAt }] of leases) if (expiresAt <= now) leases.delete(lease);
    },
  };
}

type Step =
  | { do: 'reserve' | 'commit' | 'release' | 'fence'; job: number }
  | { do: 'declare'; slots: number; isAccepting: boolean }
  | { do: 'report'; running: number; named: number[] | undefined }
  | { do: 'advance'; ms: number };

const job = fc.integer({ min: 0, max: JOBS - 1 });
const onLease = (verb: 'reserve' | 'commit' | 'release' | 'fence') =>
  fc.record({ do: fc.constant(verb), job });
const steps = (withTime: boolean): fc.Arbitrary<Step[]> =>
  fc.array(
    fc.oneof(
      { weight: 6, arbitrary: onLease('reserve') },
      { weight: 3, arbitrary: onLease('commit') },
      { weight: 3, arbitrary: onLease('release') },
      { weight: 2, arbitrary: onLease('fence') },
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
          model.report(step.running, named);
          return ledger.reconcile(node, { running: step.running, ...(named && { runningJobIds: named }) });
        }
        const id = lease(step.job);
        if (step.do === 'fence') {
          model.fence(id);
          return ledger.fence(node, id);
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
        const answers = model.commitAnswers(id);
        const answer = await ledger.commit(node, id, ttlMs);
        expect(answers).toContain(answer.kind);
        if (answer.kind !== 'lost') model.hold(id, ttlMs);
        // Whether a commit lifts the fence is open.
        if (model.leases.get(id)?.isFenced) await ledger.fence(node, id);
        return answer;
      };

      for (const step of history) {
        const answer = await take(step);
        expect((await ledger.loads([node])).get(node)).toEqual(model.load());
        if (answer && typeof answer === 'object' && 'used' in answer)
          expect(answer).toMatchObject(model.load());
      }

      // I2: whatever happened, ending every lease and reporting nothing leaves nothing.
      for (const id of jobs.keys()) await ledger.release(node, lease(id));
      await ledger.reconcile(node, { running: 0 });
      expect((await ledger.loads([node])).get(node)?.used).toBe(0);
      await ledger.forget(node);
    }

    await fc.assert(fc.asyncProperty(steps(hasTime), replay), { numRuns: hasTime ? 300 : 80 });
  });
}
