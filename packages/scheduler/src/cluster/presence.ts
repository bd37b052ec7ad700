/** Background actor: says that this instance lives, knows who else does, and notices when it was itself taken for dead. */
import type { Cancel, Clock } from '../ports/clock.ts';
import type { Instance, Instances } from '../ports/instances.ts';
import type { Log } from '../ports/log.ts';

export interface PresenceSettings {
  readonly intervalMs: number;
  /** How long it counts as alive after a renewal. */
  readonly ttlMs: number;
  /** How old what is known of others may be before it is asked anew (I9). */
  readonly viewMs: number;
}

export interface PresenceEvents {
  /** It was taken for dead while it was frozen or cut off: everything it held is somebody else's by now. */
  lost(): void;
  /** These announced themselves once and live no more. Said at every look until they are adopted and removed. */
  died(instanceIds: readonly string[]): void;
}

export interface Presence {
  /** `taken`: another living instance has this name. */
  start(): Promise<'started' | 'taken'>;
  /**
   * It may have been adopted without knowing: nothing may be sent or written until a renewal has succeeded. Decided by the
   * time at which the last successful renewal was sent, so that a slow answer cannot lengthen its life.
   */
  isFenced(): boolean;
  self(): Instance;
  /** Those that lived when last looked, at most `viewMs` ago. */
  living(): Promise<ReadonlyMap<string, Instance>>;
  /** Says good-bye, so that what is left is adopted at once. */
  stop(): Promise<void>;
}

const TRIES_PER_INTERVAL = 4;

export function createPresence(deps: {
  instances: Instances;
  clock: Clock;
  log: Log;
  settings: PresenceSettings;
  events: PresenceEvents;
  first: Instance;
  /** A name for the next incarnation. */
  newIncarnation: () => string;
}): Presence {
  const { instances, clock, log, settings, events } = deps;
  let self = deps.first;
  let renewedAt = Number.NEGATIVE_INFINITY;
  let reachableSince = Number.POSITIVE_INFINITY;
  let view: { readonly at: number; readonly living: ReadonlyMap<string, Instance> } | undefined;
  let cancel: Cancel | undefined;
  let isStopped = false;

  const isFenced = (): boolean => clock.now() - renewedAt > settings.ttlMs;

  async function look(): Promise<ReadonlyMap<string, Instance>> {
    const at = clock.now();
    const all = await instances.all();
    const living = await instances.living(all);
    view = { at, living };
    const dead = all.filter((instanceId) => !living.has(instanceId));
    if (dead.length > 0 && mayAdopt()) events.died(dead);
    return living;
  }

  /** After an outage nobody has renewed anything: silence proves no death until everybody had time to come back. */
  const mayAdopt = (): boolean => !isFenced() && clock.now() - reachableSince >= 2 * settings.ttlMs;

  function unreachable(fault: unknown): void {
    reachableSince = Number.POSITIVE_INFINITY;
    log.warn({ err: fault }, 'the presence of this instance could not be renewed');
  }

  function reached(sentAt: number): void {
    renewedAt = sentAt;
    if (reachableSince === Number.POSITIVE_INFINITY) reachableSince = clock.now();
  }

  async function renew(): Promise<void> {
    const sentAt = clock.now();
    const wasFenced = isFenced();
    const result = await instances.renew(self, settings.ttlMs);
    if (result === 'renewed') return reached(sentAt);
    // Gone by expiry alone is gone too: whoever looked in between has adopted what was here.
    log.error({ instance_id: self.instanceId, was_fenced: wasFenced }, 'this instance was taken for dead');
    events.lost();
    await announceAnew();
  }

  async function announceAnew(): Promise<void> {
    self = { ...self, incarnation: deps.newIncarnation() };
    const sentAt = clock.now();
    if ((await instances.announce(self, settings.ttlMs)) === 'announced') reached(sentAt);
  }

  async function tick(): Promise<void> {
    let nextMs = settings.intervalMs;
    try {
      await renew();
      await look();
    } catch (fault) {
      unreachable(fault);
      // A life is two intervals: one renewal that failed must not be the end of it.
      nextMs /= TRIES_PER_INTERVAL;
    }
    if (!isStopped) cancel = clock.after(nextMs, () => void tick());
  }

  return {
    async start() {
      const sentAt = clock.now();
      if ((await instances.announce(self, settings.ttlMs)) === 'taken') return 'taken';
      reached(sentAt);
      cancel = clock.after(settings.intervalMs, () => void tick());
      return 'started';
    },
    isFenced,
    self: () => self,
    async living() {
      return view !== undefined && clock.now() - view.at <= settings.viewMs ? view.living : look();
    },
    async stop() {
      isStopped = true;
      cancel?.();
      await instances.leave(self).catch(unreachable);
    },
  };
}
