/** Cold path: reacts once per missing (service, version) and window, on one of all instances. */
import type { NodeId } from '../../domain/ids.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Locks } from '../../ports/locks.ts';
import type { Log } from '../../ports/log.ts';
import type { Meter } from '../../ports/meter.ts';
import type { MissingModel } from './model-report.ts';

export function createWithdrawals(deps: {
  readonly clock: Clock;
  readonly log: Log;
  readonly meter: Meter;
  /** By "service@version". */
  readonly locks: Locks;
  readonly windowMs: number;
  readonly maxKnown: number;
  /** May be costly: it may refresh the catalogue. */
  readonly withdrawn: (serviceId: string, version: string) => void;
}) {
  const { clock, log, meter, locks, windowMs, maxKnown } = deps;
  /** Ends of the windows, in ascending order. */
  const handled = new Map<string, number>();

  /** Checked before the store, so that a burst of reports costs one call per window and instance. */
  function isHandled(name: string): boolean {
    const now = clock.now();
    for (const [oldest, until] of handled) {
      if (until > now && handled.size < maxKnown) break;
      handled.delete(oldest);
    }
    if (handled.has(name)) return true;
    handled.set(name, now + windowMs);
    return false;
  }

  /** If the store does not answer, this instance reacts: twice is better than never. */
  async function take(name: string): Promise<boolean> {
    try {
      return await locks.take(name, windowMs);
    } catch (fault) {
      log.debug({ name, err: fault }, 'cannot find out whether another instance handles a missing model');
      return true;
    }
  }

  return {
    async notice(nodeId: NodeId, { serviceId, version, reason }: MissingModel): Promise<void> {
      const name = `${serviceId}@${version}`;
      if (isHandled(name) || !(await take(name))) {
        meter.count('scheduler_model_na_debounced_total');
        return;
      }
      log.warn(
        { node_id: nodeId, service_id: serviceId, service_version: version, reason },
        'a node lacks a model',
      );
      try {
        deps.withdrawn(serviceId, version);
      } catch (fault) {
        log.error({ service_id: serviceId, err: fault }, 'cannot report a missing model to the catalogue');
      }
    },
    get size() {
      return handled.size;
    },
  };
}
