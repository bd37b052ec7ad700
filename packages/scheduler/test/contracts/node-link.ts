/** Contract of NodeLink: its law as tests, for any way to any kind of node. */
import type { SchedulerToNode } from '@lingua/protocol';
import { describe, expect, it } from 'vitest';
import type { Assignment, NodeLink } from '../../src/ports/node-link.ts';
import { job } from '../transport/link/jobs.ts';
import { type Closable, fresh, perTest, type Timed, times } from './harness.ts';

/**
 * How a node can be reached. `takes`: at once. `polls`: it fetches when it likes. `refuses`: it answers that it has no
 * room. `silent`: it has the bytes and never says so. `gone`: it is known and cannot be reached.
 */
export type Reach = 'takes' | 'polls' | 'refuses' | 'silent' | 'gone';

export interface NodeLinkHarness extends Timed, Closable {
  readonly link: NodeLink;
  /** How many jobs wait for a node that polls, at most. */
  readonly mailboxRoom: number;
  now(): number;
  /** Makes a node known; answers its id. */
  add(reach: Reach): Promise<string>;
  /** The audio of a job is here. */
  hold(jobId: string): void;
  /** What the node has got so far. One that polls fetches now. */
  received(nodeId: string): Promise<readonly SchedulerToNode[]>;
}

const ALL: readonly Reach[] = ['takes', 'polls', 'refuses', 'silent', 'gone'];
const LIFE_MS = 5_000;

export function nodeLinkContract(name: string, open: () => Promise<NodeLinkHarness>): void {
  describe(`NodeLink: ${name}`, () => {
    const start = perTest(open);

    async function startNode(reach: Reach) {
      const harness = await start();
      const nodeId = await harness.add(reach);
      /** A job with its audio at hand, assigned to the node. */
      const assignment = (lifeMs = LIFE_MS): Assignment => {
        const jobId = fresh('job');
        harness.hold(jobId);
        return { nodeId, attempt: 2, job: { ...job(), jobId }, expiresAt: harness.now() + lifeMs };
      };
      return { ...harness, nodeId, assignment, got: () => harness.received(nodeId) };
    }

    it('has written what the node took, as the attempt it is', async () => {
      const { link, assignment, got } = await startNode('takes');
      const sent = assignment();
      expect(await link.deliver(sent)).toMatchObject({ kind: 'written' });
      expect(await got()).toMatchObject([{ type: 'job_assign', job_id: sent.job.jobId, attempt_id: 2 }]);
    });

    it('has queued what a node may fetch, in order', async () => {
      const { link, assignment, got, mailboxRoom } = await startNode('polls');
      const sent = times(mailboxRoom, () => assignment());
      for (const each of sent) expect(await link.deliver(each)).toEqual({ kind: 'queued' });
      expect((await got()).map((message) => 'job_id' in message && message.job_id)).toEqual(
        sent.map((each) => each.job.jobId),
      );
    });

    it('I11 bounded: what does not fit into the mailbox is undeliverable, and never fetched', async () => {
      const { link, assignment, got, mailboxRoom } = await startNode('polls');
      for (const each of times(mailboxRoom, () => assignment())) await link.deliver(each);
      const excess = assignment();
      expect(await link.deliver(excess)).toMatchObject({ kind: 'undeliverable' });
      const fetched = await got();
      expect(fetched).toHaveLength(mailboxRoom);
      expect(fetched).not.toContainEqual(expect.objectContaining({ job_id: excess.job.jobId }));
    });

    it('calls a node overloaded only on its own word', async () => {
      const { link, assignment } = await startNode('refuses');
      expect(await link.deliver(assignment())).toMatchObject({ kind: 'overloaded' });
    });

    it('does not know whether a silent node has the job, and says so in time', async () => {
      const { link, assignment } = await startNode('silent');
      expect(await link.deliver(assignment())).toMatchObject({ kind: 'unknown' });
    });

    it('cannot deliver to a node that is gone', async () => {
      const { link, assignment, got } = await startNode('gone');
      expect(await link.deliver(assignment())).toMatchObject({ kind: 'undeliverable' });
      expect(await got()).toEqual([]);
    });

    it('cannot deliver to a node nobody knows', async () => {
      const { link, assignment } = await startNode('takes');
      const stray = { ...assignment(), nodeId: fresh('node') };
      expect(await link.deliver(stray)).toMatchObject({ kind: 'undeliverable' });
    });

    it('gives a reason with everything that is not delivered', async () => {
      for (const reach of ['refuses', 'silent', 'gone'] as const) {
        const { link, assignment } = await startNode(reach);
        const delivery = await link.deliver(assignment());
        expect('reason' in delivery && delivery.reason).toBeTruthy();
      }
    });

    it('does not deliver a job whose audio is held no more', async () => {
      const { link, assignment, got } = await startNode('takes');
      const deaf = { ...assignment(), job: { ...job(), jobId: fresh('job') } };
      expect(await link.deliver(deaf)).toMatchObject({ kind: 'undeliverable' });
      expect(await got()).toEqual([]);
    });

    it.each(ALL)('never delivers at or after expiresAt: a node that %s', async (reach) => {
      const { link, assignment, got } = await startNode(reach);
      for (const lifeMs of [0, -1, -60_000])
        expect(await link.deliver(assignment(lifeMs))).toMatchObject({ kind: 'undeliverable' });
      expect(await got()).toEqual([]);
    });

    it('lets nobody fetch a queued job at or after its expiresAt', async () => {
      const { link, assignment, got, advance } = await startNode('polls');
      await link.deliver(assignment(1_000));
      await advance(1_000);
      expect(await got()).toEqual([]);
    });

    it('tells a node that listens of a cancellation', async () => {
      const { link, assignment, nodeId, got } = await startNode('takes');
      const sent = assignment();
      await link.deliver(sent);
      link.cancel(nodeId, sent.job.jobId, 'superseded');
      await expect
        .poll(got)
        .toContainEqual({ type: 'job_cancel', job_id: sent.job.jobId, reason: 'superseded' });
    });

    it('takes a cancelled job back that nobody has fetched, and only that one', async () => {
      const { link, assignment, nodeId, got } = await startNode('polls');
      const [kept, cancelled] = [assignment(), assignment()];
      for (const each of [cancelled, kept]) await link.deliver(each);
      link.cancel(nodeId, cancelled.job.jobId, 'superseded');
      expect(await got()).toMatchObject([{ type: 'job_assign', job_id: kept.job.jobId }]);
    });

    it.each(ALL)('never fails by cancelling, known job or not: a node that %s', async (reach) => {
      const { link, assignment, nodeId } = await startNode(reach);
      const sent = assignment();
      await link.deliver(sent);
      for (const jobId of [sent.job.jobId, sent.job.jobId, fresh('job')])
        expect(link.cancel(nodeId, jobId, 'superseded')).toBeUndefined();
      expect(link.cancel(fresh('node'), sent.job.jobId, 'superseded')).toBeUndefined();
    });
  });
}
