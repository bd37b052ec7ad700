/** Contract of NodeLink: its law as tests, for nodes with a socket, an endpoint or a mailbox. */
import type { SchedulerToNode } from '@lingua/protocol';
import { describe, expect, it } from 'vitest';
import { leaseId } from '../../src/domain/lease.ts';
import type { CapacityLedger } from '../../src/ports/capacity-ledger.ts';
import type { Assignment, NodeLink } from '../../src/ports/node-link.ts';
import { job } from '../transport/link/jobs.ts';
import { type Closable, fresh, perTest, type Timed, times } from './harness.ts';

/**
 * How a node can be reached. `takes`: at once. `polls`: it fetches from its mailbox. `refuses`: it answers that it has no free
 * slot. `silent`: it receives the job and does not answer. `gone`: it is known and cannot be reached.
 */
export type Reach = 'takes' | 'polls' | 'refuses' | 'silent' | 'gone';

export interface NodeLinkHarness extends Timed, Closable {
  readonly link: NodeLink;
  /** The ledger that the link commits leases in. */
  readonly ledger: CapacityLedger;
  /** How long a lease lasts from its commit. */
  readonly committedMs: number;
  /** How many jobs wait for a node that polls, at most. */
  readonly mailboxRoom: number;
  now(): number;
  /** Registers a node and returns its id. */
  add(reach: Reach): Promise<string>;
  /** Stores the audio of the job on this instance. */
  hold(jobId: string): void;
  /** The messages that the node has received. A node that polls fetches now. */
  received(nodeId: string): Promise<readonly SchedulerToNode[]>;
}

const ALL: readonly Reach[] = ['takes', 'polls', 'refuses', 'silent', 'gone'];
const EXPIRES_IN_MS = 5_000;
const RESERVED_MS = 8_000;
const ATTEMPT = 2;

export function nodeLinkContract(name: string, open: () => Promise<NodeLinkHarness>): void {
  describe(`NodeLink: ${name}`, () => {
    const start = perTest(open);

    async function startNode(reach: Reach) {
      const harness = await start();
      const nodeId = await harness.add(reach);
      const { ledger } = harness;
      await ledger.declare(nodeId, { slots: 100, isAccepting: true });
      /** An assignment whose audio is stored and whose lease is reserved. */
      async function assignment(ttlMs = EXPIRES_IN_MS): Promise<Assignment> {
        const jobId = fresh('job');
        harness.hold(jobId);
        await ledger.reserve(nodeId, leaseId(jobId, ATTEMPT), RESERVED_MS);
        return { nodeId, attempt: ATTEMPT, job: { ...job(), jobId }, expiresAt: harness.now() + ttlMs };
      }
      const used = async () => (await ledger.loads([nodeId])).get(nodeId)?.used;
      return { ...harness, nodeId, assignment, used, got: () => harness.received(nodeId) };
    }

    it('writes a job with its attempt to a node', async () => {
      const { link, assignment, got } = await startNode('takes');
      const sent = await assignment();
      expect(await link.deliver(sent)).toMatchObject({ kind: 'written' });
      expect(await got()).toMatchObject([{ type: 'job_assign', job_id: sent.job.jobId, attempt_id: 2 }]);
    });

    it('queues jobs for a node that polls, in order', async () => {
      const { link, assignment, got, mailboxRoom } = await startNode('polls');
      const sent = [];
      for (let count = 0; count < mailboxRoom; count += 1) sent.push(await assignment());
      for (const each of sent) expect(await link.deliver(each)).toEqual({ kind: 'queued' });
      expect((await got()).map((message) => 'job_id' in message && message.job_id)).toEqual(
        sent.map((each) => each.job.jobId),
      );
    });

    it('I11 bounded: a job beyond the room of the mailbox is undeliverable', async () => {
      const { link, assignment, got, mailboxRoom } = await startNode('polls');
      for (const each of await Promise.all(times(mailboxRoom, () => assignment()))) await link.deliver(each);
      const excess = await assignment();
      expect(await link.deliver(excess)).toMatchObject({ kind: 'undeliverable' });
      const fetched = await got();
      expect(fetched).toHaveLength(mailboxRoom);
      expect(fetched).not.toContainEqual(expect.objectContaining({ job_id: excess.job.jobId }));
    });

    it('answers overloaded when the node refuses', async () => {
      const { link, assignment } = await startNode('refuses');
      expect(await link.deliver(await assignment())).toMatchObject({ kind: 'overloaded' });
    });

    it('answers unknown when the node does not answer in time', async () => {
      const { link, assignment } = await startNode('silent');
      expect(await link.deliver(await assignment())).toMatchObject({ kind: 'unknown' });
    });

    it('cannot deliver to a disconnected node', async () => {
      const { link, assignment, got } = await startNode('gone');
      expect(await link.deliver(await assignment())).toMatchObject({ kind: 'undeliverable' });
      expect(await got()).toEqual([]);
    });

    it('cannot deliver to an unknown node', async () => {
      const { link, assignment } = await startNode('takes');
      const unknown = { ...(await assignment()), nodeId: fresh('node') };
      expect(await link.deliver(unknown)).toMatchObject({ kind: 'undeliverable' });
    });

    it('gives a reason when a job is not delivered', async () => {
      for (const reach of ['refuses', 'silent', 'gone'] as const) {
        const { link, assignment } = await startNode(reach);
        const delivery = await link.deliver(await assignment());
        expect('reason' in delivery && delivery.reason).toBeTruthy();
      }
    });

    it('does not deliver a job whose audio was dropped', async () => {
      const { link, assignment, got } = await startNode('takes');
      const deaf = { ...(await assignment()), job: { ...job(), jobId: fresh('job') } };
      expect(await link.deliver(deaf)).toMatchObject({ kind: 'undeliverable' });
      expect(await got()).toEqual([]);
    });

    it.each(ALL)('delivers nothing at or after expiresAt: a node that %s', async (reach) => {
      const { link, assignment, got } = await startNode(reach);
      for (const ttlMs of [0, -1, -60_000])
        expect(await link.deliver(await assignment(ttlMs))).toMatchObject({ kind: 'undeliverable' });
      expect(await got()).toEqual([]);
    });

    it('hands out no queued job at or after its expiresAt', async () => {
      const { link, assignment, got, advance } = await startNode('polls');
      await link.deliver(await assignment(1_000));
      await advance(1_000);
      expect(await got()).toEqual([]);
    });

    it.each(['takes', 'polls'] as const)(
      'commits the lease when the job is handed over: a node that %s',
      async (reach) => {
        const { link, assignment, got, used, advance, committedMs } = await startNode(reach);
        await link.deliver(await assignment());
        expect(await got()).toHaveLength(1);
        await advance(committedMs - 1);
        expect(await used()).toBe(1);
        await advance(1);
        expect(await used()).toBe(0);
      },
    );

    it.each(['refuses', 'silent'] as const)(
      'commits the lease before the call: a node that %s',
      async (reach) => {
        const { link, assignment, used, advance } = await startNode(reach);
        await link.deliver(await assignment());
        await advance(RESERVED_MS);
        expect(await used()).toBe(1);
      },
    );

    it('commits the lease of a queued job only when it is fetched', async () => {
      const { link, assignment, used, advance } = await startNode('polls');
      await link.deliver(await assignment());
      await advance(RESERVED_MS);
      expect(await used()).toBe(0);
    });

    it.each(['released', 'abandoned', 'expired'] as const)(
      'I1 no oversell: a job whose lease is %s reaches no node',
      async (what) => {
        for (const reach of ['takes', 'polls', 'refuses', 'silent'] as const) {
          const { link, ledger, nodeId, assignment, got, used, advance } = await startNode(reach);
          const sent = await assignment(2 * RESERVED_MS);
          const lease = leaseId(sent.job.jobId, ATTEMPT);
          if (what === 'released') await ledger.release(nodeId, lease);
          if (what === 'abandoned') await ledger.abandon(nodeId, lease);
          if (what === 'expired') await advance(RESERVED_MS);
          const delivery = await link.deliver(sent);
          expect(delivery).toMatchObject({ kind: reach === 'polls' ? 'queued' : 'undeliverable' });
          expect(await got()).toEqual([]);
          await advance(RESERVED_MS);
          expect(await used()).toBe(0);
        }
      },
    );

    it('I1 no oversell: the lease of another attempt is not enough', async () => {
      const { link, assignment, got } = await startNode('takes');
      const sent = { ...(await assignment()), attempt: ATTEMPT + 1 };
      expect(await link.deliver(sent)).toMatchObject({ kind: 'undeliverable' });
      expect(await got()).toEqual([]);
    });

    it('sends a cancellation to a connected node', async () => {
      const { link, assignment, nodeId, got } = await startNode('takes');
      const sent = await assignment();
      await link.deliver(sent);
      link.cancel(nodeId, sent.job.jobId, 'superseded');
      await expect
        .poll(got)
        .toContainEqual({ type: 'job_cancel', job_id: sent.job.jobId, reason: 'superseded' });
    });

    it('removes exactly the cancelled job from the mailbox', async () => {
      const { link, assignment, nodeId, got } = await startNode('polls');
      const [kept, cancelled] = [await assignment(), await assignment()];
      for (const each of [cancelled, kept]) await link.deliver(each);
      link.cancel(nodeId, cancelled.job.jobId, 'superseded');
      expect(await got()).toMatchObject([{ type: 'job_assign', job_id: kept.job.jobId }]);
    });

    it.each(ALL)('cancels without a failure, also an unknown job: a node that %s', async (reach) => {
      const { link, assignment, nodeId } = await startNode(reach);
      const sent = await assignment();
      await link.deliver(sent);
      for (const jobId of [sent.job.jobId, sent.job.jobId, fresh('job')])
        expect(link.cancel(nodeId, jobId, 'superseded')).toBeUndefined();
      expect(link.cancel(fresh('node'), sent.job.jobId, 'superseded')).toBeUndefined();
    });
  });
}
