/** Instances as operators see them on the wire: what is unknown is left out. Pure. */
import type { ClusterInstance, ClusterReply } from '@lingua/protocol';
import type { ClusterView, InstanceLine } from '../../../cluster/operators/cluster-view.ts';
import { given } from '../../wire/given.ts';

export const viewCluster = ({
  at,
  instanceId,
  store,
  instances,
  orphans,
  warnings,
}: ClusterView): ClusterReply => ({
  instance_id: instanceId,
  store: given({ mode: store.mode, ok: store.isOk, detail: store.detail }),
  instances: instances.map((line) => viewInstance(line, at)),
  orphaned: orphans.map((orphan) => ({
    instance_id: orphan.instanceId,
    dead_letters: orphan.deadLetters,
  })),
  warnings: [...warnings],
});

const viewInstance = (
  { instanceId, state, instance, figures, inbox }: InstanceLine,
  at: number,
): ClusterInstance =>
  given({
    instance_id: instanceId,
    state,
    incarnation: instance?.incarnation,
    started_at_ms: instance?.startedAt,
    // Clocks of two machines differ: nobody has run for less than no time.
    uptime_ms: instance === undefined ? undefined : Math.max(0, at - instance.startedAt),
    hostname: instance?.hostname,
    pid: instance?.pid,
    version: instance?.version,
    advertise_url: instance?.advertiseUrl,
    nodes: figures?.nodes,
    sessions: figures?.sessions,
    jobs_in_flight: figures?.jobs,
    pools_digest: figures?.pools,
    inbox_messages: inbox?.messages,
    inbox_pending: inbox?.handedOut,
    dead_letters: inbox?.dead,
  });
