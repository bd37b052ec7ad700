/** Cold path: what an operator should look at now, the most urgent first. Pure. */
import type { FailingNode, FiguresPoint } from './summary.ts';

export type Severity = 'critical' | 'warning' | 'info';

export interface AttentionItem {
  readonly id: string;
  readonly severity: Severity;
  readonly text: string;
  /** The values in the text, for other languages. */
  readonly params: Readonly<Record<string, string | number>>;
  /** A heading of docs/runbook.md. */
  readonly runbook?: string;
  readonly page: 'overview' | 'fleet' | 'node' | 'languages' | 'jobs' | 'cluster';
  readonly target?: string;
}

export interface AttentionFacts {
  /** Of the last minute, in seconds. */
  readonly points: readonly FiguresPoint[];
  readonly nodes: {
    readonly all: number;
    readonly online: number;
    readonly ready: number;
    readonly ejected: number;
  };
  readonly failing: readonly FailingNode[];
  /** About instances and their store. */
  readonly warnings: readonly string[];
}

/** Longer waits are heard by people who speak with each other. */
const LONG_WAIT_MS = 3_000;
/** Below both, failures are single mishaps. */
const MIN_FAILED = 3;
const MIN_FAILED_SHARE = 0.02;
const MAX_FAILING_SHOWN = 10;

export function attentionOf(facts: AttentionFacts): AttentionItem[] {
  const rank: Record<Severity, number> = { critical: 0, warning: 1, info: 2 };
  return [
    ...clusterItems(facts),
    ...nodeItems(facts),
    ...jobItems(facts.points),
    ...failingItems(facts.failing),
  ].sort((a, b) => rank[a.severity] - rank[b.severity]);
}

const clusterItems = ({ warnings }: AttentionFacts): AttentionItem[] =>
  warnings.map((text) => ({
    id: 'cluster_warning',
    severity: 'warning',
    text,
    params: { text },
    page: 'cluster',
  }));

function nodeItems({ nodes: { all, online, ready, ejected } }: AttentionFacts): AttentionItem[] {
  const items: AttentionItem[] = [];
  if (ready === 0)
    items.push({
      id: 'no_ready_node',
      severity: 'critical',
      text:
        all === 0 ? 'no node is registered: every job is refused' : `none of ${some(all, 'node')} is ready`,
      params: { all },
      runbook: 'LinguaNoReadyNode',
      page: 'fleet',
    });
  if (ejected > 0)
    items.push({
      id: 'nodes_ejected',
      severity: 'warning',
      text: `${some(ejected, 'node')} ${ejected === 1 ? 'gets' : 'get'} no jobs because too many failed there`,
      params: { count: ejected },
      runbook: 'LinguaNodeEjections',
      page: 'fleet',
    });
  if (all > online)
    items.push({
      id: 'nodes_offline',
      severity: 'info',
      text: `${all - online} of ${some(all, 'node')} ${all - online === 1 ? 'is' : 'are'} offline`,
      params: { count: all - online, all },
      page: 'fleet',
    });
  return items;
}

function jobItems(points: readonly FiguresPoint[]): AttentionItem[] {
  const items: AttentionItem[] = [];
  const refused = new Map<string, number>();
  let failed = 0;
  let ended = 0;
  for (const { counts, refused: byCode } of points) {
    failed += counts.failed;
    ended += counts.failed + counts.finished;
    for (const [code, count] of Object.entries(byCode)) refused.set(code, (refused.get(code) ?? 0) + count);
  }
  const reports = points.reduce((sum, { counts }) => sum + counts.reports, 0);
  if (reports > 0)
    items.push({
      id: 'bad_translations',
      severity: 'info',
      text: `clients reported ${some(reports, 'bad translation')} in the last minute`,
      params: { count: reports },
      page: 'jobs',
    });
  const [most] = [...refused].sort((a, b) => b[1] - a[1]);
  if (most !== undefined) {
    const count = [...refused.values()].reduce((sum, each) => sum + each, 0);
    items.push({
      id: 'jobs_refused',
      severity: 'warning',
      text: `${some(count, 'request')} ${count === 1 ? 'was' : 'were'} refused in the last minute, most with ${most[0]}`,
      params: { count, code: most[0] },
      runbook: most[0] === 'RATE_LIMITED' ? 'LinguaTenantCapped' : 'LinguaNoAvailableNode',
      page: 'languages',
    });
  }
  if (failed >= MIN_FAILED && failed >= MIN_FAILED_SHARE * ended)
    items.push({
      id: 'jobs_failing',
      severity: 'warning',
      text: `${failed} of ${some(ended, 'job')} failed in the last minute`,
      params: { failed, ended },
      runbook: 'LinguaJobsFail',
      page: 'jobs',
    });
  const { waiting = 0, oldestWaitMs = 0 } = points.at(-1)?.levels ?? {};
  if (oldestWaitMs >= LONG_WAIT_MS)
    items.push({
      id: 'jobs_waiting_long',
      severity: 'warning',
      text: `${some(waiting, 'job')} ${waiting === 1 ? 'waits' : 'wait'} for a slot, the oldest for ${Math.round(oldestWaitMs / 1_000)} s`,
      params: { count: waiting, seconds: Math.round(oldestWaitMs / 1_000) },
      runbook: 'LinguaQueueNearlyFull',
      page: 'languages',
    });
  return items;
}

const some = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

/** Several instances may report the same node: their attempts are added up. */
function failingItems(failing: readonly FailingNode[]): AttentionItem[] {
  const byNode = new Map<string, FailingNode>();
  for (const each of failing) {
    const known = byNode.get(each.nodeId);
    byNode.set(each.nodeId, {
      nodeId: each.nodeId,
      failed: each.failed + (known?.failed ?? 0),
      of: each.of + (known?.of ?? 0),
    });
  }
  return [...byNode.values()]
    .sort((a, b) => b.failed - a.failed)
    .slice(0, MAX_FAILING_SHOWN)
    .map(({ nodeId, failed, of }) => ({
      id: 'node_failing',
      severity: 'warning',
      text: `${failed} of the last ${some(of, 'attempt')} on ${nodeId} failed`,
      params: { node: nodeId, failed, of },
      runbook: 'LinguaJobsFail',
      page: 'node',
      target: nodeId,
    }));
}
