/** Cold path: keeps the marks of the nodes of this instance and updates selection. A node without marks costs nothing here. */
import type { NodeId } from '../../domain/ids.ts';
import type { ServiceUse } from '../../domain/service-use.ts';
import type { Fleet, RegistryDeps } from '../fleet.ts';
import { afterNothing as afterNoProof } from '../health/ejection.ts';
import type { MarkResult } from '../node-registry.ts';
import type { RegisteredNode } from '../registered-node.ts';
import { isReportedReady, usedAmong } from './marked-services.ts';
import {
  afterClaims,
  afterFailure,
  afterNothing,
  afterPlacement,
  afterReport,
  afterSuccess,
  afterTime,
  type Marks,
} from './marks.ts';

/** What the node says of itself, and what follows from it. */
export type Reported = Pick<RegisteredNode, 'report' | 'profile'>;

export type MarkKeeper = ReturnType<typeof createMarkKeeper>;

export function createMarkKeeper({ clock, log, meter, settings }: RegistryDeps, fleet: Fleet) {
  const rules = settings.marks;

  const usedBy = (node: RegisteredNode, marks: Marks, use: ServiceUse): ReadonlySet<string> =>
    usedAmong(marks, node.profile, fleet.typerOf(node), use);

  function countProbes(
    marks: Marks,
    used: Iterable<string>,
    result: 'succeeded' | 'failed' | 'unanswered',
  ): void {
    for (const serviceId of used)
      if (marks.get(serviceId)?.phase === 'probing')
        meter.count('scheduler_model_na_probes_total', { result });
  }

  function put(node: RegisteredNode, marks: Marks | undefined): void {
    if (marks === node.marks) return;
    fleet.setMarks(node, marks);
    void fleet.publish(node);
  }

  return {
    /** The node reported that it lacks the service. */
    markMissing(nodeId: NodeId, serviceId: string): MarkResult {
      const node = fleet.nodes.get(nodeId);
      if (node === undefined) return 'unknown_node';
      const before = node.marks;
      const isNew = before?.has(serviceId) !== true;
      if (isNew && fleet.marksKnown() >= rules.maxKnown) return 'marks_full';
      const isCrowded = isNew && before !== undefined && before.size >= rules.maxPerNode;
      if (isCrowded) meter.count('scheduler_model_na_dropped_total', { reason: 'oldest_mark' });
      if (before !== undefined) countProbes(before, [serviceId], 'failed');
      const now = clock.now();
      const marks = afterReport(before, serviceId, rules, now);
      // The reporting job may have been a probe of other services or of the node; it proves nothing about those.
      const all = new Set(marks.keys());
      countProbes(marks, all, 'unanswered');
      fleet.setMarks(node, afterNothing(marks, all, now));
      fleet.setEjection(node, afterNoProof(node.ejection));
      void fleet.publish(node);
      return marks === before ? 'known' : 'marked';
    },

    /** The node comes from another instance, which has marked these services. The caller publishes the node. */
    inherit(node: RegisteredNode, serviceIds: readonly string[]): void {
      for (const serviceId of serviceIds)
        if (fleet.marksKnown() < rules.maxKnown)
          fleet.setMarks(node, afterReport(node.marks, serviceId, rules, clock.now()));
    },

    placed(node: RegisteredNode, use: ServiceUse): void {
      const { marks } = node;
      if (marks !== undefined) put(node, afterPlacement(marks, usedBy(node, marks, use), rules, clock.now()));
    },

    ended(node: RegisteredNode, hasFailed: boolean, use: ServiceUse): void {
      const { marks } = node;
      if (marks === undefined) return;
      const used = usedBy(node, marks, use);
      countProbes(marks, used, hasFailed ? 'failed' : 'succeeded');
      put(node, hasFailed ? afterFailure(marks, used, rules, clock.now()) : afterSuccess(marks, used));
      if (hasFailed) return;
      for (const serviceId of used)
        log.info({ node_id: node.nodeId, service_id: serviceId }, 'a marked model is available again');
    },

    unproven(node: RegisteredNode, use: ServiceUse): void {
      const { marks } = node;
      if (marks === undefined) return;
      const used = usedBy(node, marks, use);
      countProbes(marks, used, 'unanswered');
      put(node, afterNothing(marks, used, clock.now()));
    },

    /** The node already has its new report and profile; `before` are the earlier ones. The caller publishes the node. */
    claimed(node: RegisteredNode, before: Reported): void {
      const { marks } = node;
      if (marks === undefined || before.report === node.report) return;
      const isReady = (reported: Reported, serviceId: string) =>
        isReportedReady(reported.report, reported.profile, fleet.typerOf(reported), serviceId);
      const becameReady = (serviceId: string) => isReady(node, serviceId) && !isReady(before, serviceId);
      fleet.setMarks(node, afterClaims(marks, becameReady, clock.now()));
    },

    /** Returns whether a mark ended. The caller publishes the node. */
    passTime(node: RegisteredNode, now: number): boolean {
      const { marks } = node;
      if (marks === undefined) return false;
      const after = afterTime(marks, now);
      if (after === marks) return false;
      for (const [serviceId, { phase }] of marks)
        if (phase === 'probing' && after.get(serviceId)?.phase === 'probation')
          meter.count('scheduler_model_na_probes_total', { result: 'unanswered' });
      fleet.setMarks(node, after);
      return true;
    },
  };
}
