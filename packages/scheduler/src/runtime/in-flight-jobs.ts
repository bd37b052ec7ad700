/** Hot path: the index of all flights, by job and by the node that has it. */
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
  /** It counts among its tenant's jobs on nodes from now on. False: the tenant has as many as it may. */
  quotaUnit(flight: InFlightJob): boolean;
  /** It waits again, or for the first time. */
  releaseQuotaUnit(flight: InFlightJob): void;
  /** The node is sent the job, or has it: its loss concerns the flight from now on. */
  setNode(flight: InFlightJob, nodeId: NodeId): void;
  /** Those whose fence the node holds; a copy, safe to walk while they move. */
  on(nodeId: NodeId): InFlightJob[];
  size(): number;
  /** Calls once, when none is left. */
  onEmpty(listen: () => void): void;
}

/** `caps`: absent where no tenant has a cap. `freed`: this tenant may have one more. `numbers`: those that selection has. */
export function createInFlightJobs(
  caps?: InflightCaps | undefined,
  freed: (tenantId: TenantId) => void = () => {},
  numbers: NodeNumbers = new NodeNumbers(),
): InFlightJobs {
  const places = new NumberedPlaces(numberIn);
  const inFlightJobs: (InFlightJob | undefined)[] = [];
  /** Those whose fence the same node holds. */
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
      // One that was abandoned has left already, and its job may be in flight again since.
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
      // What is with a node counts, whether or not there was room: it may be found there.
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
