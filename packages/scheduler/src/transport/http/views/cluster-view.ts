/** Prints the instances for operators; unknown values are omitted. Pure. */
import type { ClusterInstance, ClusterReply } from '@lingua/protocol';
import type { ClusterView, InstanceLine } from '../../../cluster/operators/cluster-view.ts';
import { omitUndefined } from '../../wire/omit-undefined.ts';
import { viewOnlineInstance } from './cluster-page-view.ts';

export const viewCluster = (
  { at, instanceId, store, instances, orphans, warnings }: ClusterView,
  page: Omit<ClusterReply, 'instance_id' | 'store' | 'instances' | 'orphaned' | 'warnings'>,
): ClusterReply => ({
  instance_id: instanceId,
  store: omitUndefined({
    mode: store.mode,
    ok: store.isOk,
    detail: store.detail,
    masters: store.masters?.map(({ address, isOk }) => ({ address, ok: isOk })),
  }),
  instances: instances.map((line) => viewInstance(line, at)),
  orphaned: orphans.map((orphan) => ({
    instance_id: orphan.instanceId,
    dead_letters: orphan.deadLetters,
  })),
  warnings: [...warnings],
  ...page,
});

function viewInstance(line: InstanceLine, at: number): ClusterInstance {
  const { instanceId, state, instance, figures, inbox } = line;
  // The clocks of two machines differ, so the difference may be negative.
  const uptimeMs = instance === undefined ? undefined : Math.max(0, at - instance.startedAt);
  return omitUndefined({
    instance_id: instanceId,
    state,
    incarnation: instance?.incarnation,
    started_at_ms: instance?.startedAt,
    uptime_ms: uptimeMs,
    hostname: instance?.hostname,
    pid: instance?.pid,
    version: instance?.version,
    advertise_url: instance?.advertiseUrl,
    nodes: figures?.nodes,
    sessions: figures?.sessions,
    jobs_in_flight: figures?.jobs,
    pools_digest: figures?.pools,
    inbox_messages: inbox?.messages,
    inbox_pending: inbox?.delivered,
    dead_letters: inbox?.dead,
    ...viewOnlineInstance(line, uptimeMs),
  });
}
