/** Hot path, where some tenant has a cap: a request takes one of its tenant's seats before it is anything else, and its flight keeps it. */
import type { DispatchOutcome } from '../domain/dispatch.ts';
import type { Soon } from '../domain/soon.ts';
import type { Asked } from './candidates.ts';
import type { Engine } from './engine.ts';
import type { Seat } from './inflight-caps.ts';

/** A request that has no flight yet. */
export interface Probe extends Asked {
  /** Its flight's, as soon as there is one. */
  seat: Seat | undefined;
  /** To the fraction of a millisecond. */
  readonly begunAt: number;
}

/** It needs none, or none any more: a repeat has its job's. Whoever was passed over for it meanwhile is woken. */
export function giveUpSeat(engine: Pick<Engine, 'caps' | 'queue'>, probe: Probe): void {
  const { seat } = probe;
  if (seat === undefined) return;
  probe.seat = undefined;
  engine.caps?.giveBack(seat);
  engine.queue.wakeOf(probe.need.tenantId);
}

/** A seat that no flight has taken over is given back, whatever becomes of the request. */
export function whileSeated(
  engine: Pick<Engine, 'caps' | 'queue'>,
  probe: Probe,
  enter: () => Soon<DispatchOutcome>,
): Soon<DispatchOutcome> {
  const giveUp = (): void => giveUpSeat(engine, probe);
  let entering: Soon<DispatchOutcome>;
  try {
    entering = enter();
  } catch (fault) {
    giveUp();
    throw fault;
  }
  if (entering instanceof Promise) return entering.finally(giveUp);
  giveUp();
  return entering;
}
