/** Hot path: the index of all flights, by job and by the node that has it. */
import type { JobId, NodeId, TenantId } from '../domain/ids.ts';
import { numberIn } from '../domain/numbered/job-name.ts';
import { NodeChains } from '../domain/numbered/node-chains.ts';
import { NodeNumbers, UNNUMBERED } from '../domain/numbered/node-numbers.ts';
import { NOWHERE, NumberedPlaces } from '../domain/numbered/numbered-places.ts';
import type { Flight } from './in-flight-job.ts';
import type { InflightCaps } from './queue/inflight-caps.ts';

export interface Flights {
  add(flight: Flight): void;
  get(jobId: JobId): Flight | undefined;
  all(): Iterable<Flight>;
  remove(flight: Flight): void;
  /** It counts among its tenant's jobs on nodes from now on. False: the tenant has as many as it may. */
  seat(flight: Flight): boolean;
  /** It waits again, or for the first time. */
  unseat(flight: Flight): void;
  /** The node is sent the job, or has it: its loss concerns the flight from now on. */
  board(flight: Flight, nodeId: NodeId): void;
  /** Those whose fence the node holds; a copy, safe to walk while they move. */
  on(nodeId: NodeId): Flight[];
  size(): number;
  /** Calls once, when none is left. */
  onEmpty(listen: () => void): void;
}

/** `caps`: absent where no tenant has a cap. `freed`: this tenant may have one more. `numbers`: those that selection has. */
export function createFlights(
  caps?: InflightCaps | undefined,
  freed: (tenantId: TenantId) => void = () => {},
  numbers: NodeNumbers = new NodeNumbers(),
): Flights {
  const places = new NumberedPlaces(numberIn);
  const flights: (Flight | undefined)[] = [];
  /** Those whose fence the same node holds. */
  const chains = new NodeChains();

  let empty: (() => void)[] = [];

  function leave(flight: Flight): void {
    const { aboard } = flight;
    if (aboard === UNNUMBERED) return;
    flight.aboard = UNNUMBERED;
    chains.remove(aboard, flight.place);
    numbers.drop(aboard);
  }

  function get(jobId: JobId): Flight | undefined {
    const place = places.find(jobId);
    return place === NOWHERE ? undefined : flights[place];
  }

  function unseat(flight: Flight): void {
    const { seat } = flight;
    if (caps === undefined || seat === undefined) return;
    flight.seat = undefined;
    caps.giveBack(seat);
  }

  return {
    add(flight) {
      const { jobId } = flight.job;
      const before = get(jobId);
      if (before !== undefined) leave(before);
      flight.place = before === undefined ? places.take(jobId) : before.place;
      flights[flight.place] = flight;
    },
    seat(flight) {
      if (caps === undefined || flight.seat !== undefined) return true;
      flight.seat = caps.take(flight.job.tenantId);
      return flight.seat !== undefined;
    },
    unseat,
    get,
    *all() {
      for (const flight of flights) if (flight !== undefined) yield flight;
    },
    remove(flight) {
      // One that was abandoned has left already, and its job may be in flight again since.
      if (flights[flight.place] !== flight) return;
      leave(flight);
      places.leave(flight.place);
      flights[flight.place] = undefined;
      if (flight.seat !== undefined) {
        unseat(flight);
        freed(flight.job.tenantId);
      }
      if (places.size > 0) return;
      const listeners = empty;
      empty = [];
      for (const listen of listeners) listen();
    },
    board(flight, nodeId) {
      const isCounted = caps === undefined || flight.seat !== undefined;
      const isAboard = flight.aboard !== UNNUMBERED && flight.aboard === numbers.find(nodeId);
      if ((isAboard && isCounted) || flights[flight.place] !== flight) return;
      // What is with a node counts, whether or not there was room: it may be found there.
      if (!isCounted) flight.seat = caps.takeAnyway(flight.job.tenantId);
      if (isAboard) return;
      leave(flight);
      flight.aboard = numbers.keep(nodeId);
      chains.add(flight.aboard, flight.place);
    },
    onEmpty(listen) {
      if (places.size === 0) listen();
      else empty.push(listen);
    },
    on(nodeId) {
      const aboard: Flight[] = [];
      const number = numbers.find(nodeId);
      if (number === UNNUMBERED) return aboard;
      for (let place = chains.first(number); place !== NOWHERE; place = chains.after(place))
        aboard.push(flights[place] as Flight);
      return aboard;
    },
    size: () => places.size,
  };
}
