/** Hot path: the index of all in-flight jobs, by job and by node. */
import type { JobId, NodeId, TenantId } from '../domain/ids.ts';
import { numberIn } from '../domain/numbered/job-name.ts';
import { NodeChains } from '../domain/numbered/node-chains.ts';
import { NodeNumbers, UNNUMBERED } from '../domain/numbered/node-numbers.ts';
import { NOWHERE, NumberedPlaces } from '../domain/numbered/numbered-places.ts';
import type { InFlightJob } from './in-flight-job.ts';
import type { InflightCaps } from './queue/inflight-caps.ts';

export interface InFlightJobs {
  add(flight: InFlightJob): void;
  get(jobId: JobId): InFlightJob | undefined;
  all(): Iterable<InFlightJob>;
  remove(flight: InFlightJob): void;
  /** Counts the job against its tenant's cap. False: the tenant is at its cap. */
  quotaUnit(flight: InFlightJob): boolean;
  /** The job waits, so it does not count against the cap. */
  releaseQuotaUnit(flight: InFlightJob): void;
  /** The node is being sent the job or has it: from now on its loss concerns the job. */
  setNode(flight: InFlightJob, nodeId: NodeId): void;
  /** The jobs of the node; a copy, safe to iterate while they move. */
  on(nodeId: NodeId): InFlightJob[];
  size(): number;
  /** Calls `listen` once, when no job is left. */
  onEmpty(listen: () => void): void;
}

/** `caps`: absent if no tenant has a cap. `freed`: the tenant may have one more job. `numbers`: shared with selection. */
export function createInFlightJobs(
  caps?: InflightCaps | undefined,
  freed: (tenantId: TenantId) => void = () => {},
  numbers: NodeNumbers = new NodeNumbers(),
): InFlightJobs {
  const places = new NumberedPlaces(numberIn);
  const inFlightJobs: (InFlightJob | undefined)[] = [];
  /** The jobs of each node. */
  const chains = new NodeChains();

  let empty: (() => void)[] = [];

  function leave(flight: InFlightJob): void {
    const { onNode } = flight;
    if (onNode === UNNUMBERED) return;
    flight.onNode = UNNUMBERED;
    chains.remove(onNode, flight.place);
    numbers.drop(onNode);
  }

  function get(jobId: JobId): InFlightJob | undefined {
    const place = places.find(jobId);
    return place === NOWHERE ? undefined : inFlightJobs[place];
  }

  function releaseQuotaUnit(flight: InFlightJob): void {
    const { quotaUnit } = flight;
    if (caps === undefined || quotaUnit === undefined) return;
    flight.quotaUnit = undefined;
    caps.release(quotaUnit);
  }

  return {
    add(flight) {
      const { jobId } = flight.job;
      const before = get(jobId);
      if (before !== undefined) leave(before);
      flight.place = before === undefined ? places.take(jobId) : before.place;
      inFlightJobs[flight.place] = flight;
    },
    quotaUnit(flight) {
      if (caps === undefined || flight.quotaUnit !== undefined) return true;
      flight.quotaUnit = caps.take(flight.job.tenantId);
      return flight.quotaUnit !== undefined;
    },
    releaseQuotaUnit,
    get,
    *all() {
      for (const flight of inFlightJobs) if (flight !== undefined) yield flight;
    },
    remove(flight) {
      // A dropped job is removed already, and the same job may be in flight again.
      if (inFlightJobs[flight.place] !== flight) return;
      leave(flight);
      places.leave(flight.place);
      inFlightJobs[flight.place] = undefined;
      if (flight.quotaUnit !== undefined) {
        releaseQuotaUnit(flight);
        freed(flight.job.tenantId);
      }
      if (places.size > 0) return;
      const listeners = empty;
      empty = [];
      for (const listen of listeners) listen();
    },
    setNode(flight, nodeId) {
      const isCounted = caps === undefined || flight.quotaUnit !== undefined;
      const isOnNode = flight.onNode !== UNNUMBERED && flight.onNode === numbers.find(nodeId);
      if ((isOnNode && isCounted) || inFlightJobs[flight.place] !== flight) return;
      // A job on a node counts even above the cap: it was accepted before.
      if (!isCounted) flight.quotaUnit = caps.takeAnyway(flight.job.tenantId);
      if (isOnNode) return;
      leave(flight);
      flight.onNode = numbers.keep(nodeId);
      chains.add(flight.onNode, flight.place);
    },
    onEmpty(listen) {
      if (places.size === 0) listen();
      else empty.push(listen);
    },
    on(nodeId) {
      const onNode: InFlightJob[] = [];
      const number = numbers.find(nodeId);
      if (number === UNNUMBERED) return onNode;
      for (let place = chains.first(number); place !== NOWHERE; place = chains.after(place))
        onNode.push(inFlightJobs[place] as InFlightJob);
      return onNode;
    },
    size: () => places.size,
  };
}
