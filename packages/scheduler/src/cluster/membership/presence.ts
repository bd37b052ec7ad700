/** Background actor: renews the presence of this instance, reads which instances live, and finds out when this one was declared dead. */
import { driverName } from '../../domain/ids.ts';
import { sleep } from '../../domain/with-timeout.ts';
import type { Cancel, Clock } from '../../ports/clock.ts';
import { DEATH_REMEMBERED_MS, type Instance, type Instances, type Living } from '../../ports/instances.ts';
import type { Log } from '../../ports/log.ts';
import { createMissedTime } from './missed-time.ts';
import { createStoreClock } from './store-clock.ts';

export interface PresenceSettings {
  readonly intervalMs: number;
  /** How long an instance lives after a renewal. */
  readonly ttlMs: number;
  /** How old the membership view may be before it is read again (I9). */
  readonly viewMs: number;
}

export interface PresenceEvents {
  /** This instance was declared dead while it was frozen or cut off: other instances have taken over its jobs. */
  lost(): void;
  /** This instance lives again, as a new incarnation, and takes over what the others left of the previous one. */
  reincarnated(): void;
  /**
   * The presence had ended without a declared death: the store was away or has lost data. The instance goes on under the same
   * incarnation, and writes again what the store may have lost.
   */
  emptied(): void;
  /**
   * These are dead and cannot return under the same incarnation. Called at every read until they are taken over and removed; then once
   * with an empty list.
   */
  died(instanceIds: readonly string[]): void;
  /** Those that lived at the last read. */
  seen?(living: Living): void;
}

export interface Presence {
  /** `taken`: another living instance has this name. A dead one would have lost it by then. */
  start(): Promise<'started' | 'taken'>;
  /**
   * This instance may have been declared dead: it must neither send nor write until a renewal succeeds. The TTL counts from when the last
   * successful renewal was sent, so that a slow answer cannot extend it.
   */
  isFenced(): boolean;
  self(): Instance;
  /** "instance/incarnation" of this instance, as job records name their driver. */
  driver(): string;
  /** The membership view, at most `viewMs` old. It is read again if the expected instance is missing. */
  living(expected?: string): Promise<Living>;
  /** The time of the store (epoch ms): all instances can compare it although their own clocks differ. */
  storeNow(): number;
  /** The store may have lost data, as in a failover: no death is declared until every instance had time to return. */
  holdOff(): void;
  /** Removes the presence, so that the takeover begins at once. */
  stop(): Promise<void>;
}

const TRIES_PER_INTERVAL = 4;
/** After a longer absence an instance cannot know whether its death was declared and forgotten. */
const LONGEST_ABSENCE_MS = DEATH_REMEMBERED_MS / 2;
/** The receiver of a message may have joined after the last read. Membership is read again, but not for every message. */
const REREAD_MS = 25;
/** The share of `viewMs` after which a timer reads membership again, so that no job waits for the read. */
const REFRESH_AT = 0.8;
const NONE: Living = new Map();

export function createPresence(deps: {
  instances: Instances;
  clock: Clock;
  log: Log;
  settings: PresenceSettings;
  events: PresenceEvents;
  first: Instance;
  /** The name of the next incarnation. */
  newIncarnation: () => string;
}): Presence {
  const { instances, clock, log, settings, events } = deps;
  const storeClock = createStoreClock();
  const missedTime = createMissedTime(settings.intervalMs);
  let self = deps.first;
  /** When the last successful renewal was sent, by this clock. */
  let renewedAt = Number.NEGATIVE_INFINITY;
  /** When the store received it, by its clock. */
  let renewedAtStore: number | undefined;
  let reachableSince = Number.POSITIVE_INFINITY;
  /** How often a read was uncertain. */
  let uncertainReads = 0;
  let view: { readonly at: number; readonly living: Living } | undefined;
  /** All names, as last read. */
  let names: readonly string[] = [];
  let reading: Promise<Living> | undefined;
  let cancelRead: Cancel | undefined;
  let cancel: Cancel | undefined;
  let isAnnounced = false;
  /** The last renewal failed. */
  let isRenewalDue = false;
  let hasReportedDead = false;
  let isStopped = false;

  const isFenced = (): boolean => clock.now() - renewedAt > settings.ttlMs;

  async function readMembership(): Promise<Living> {
    const [at, uncertainBefore] = [clock.now(), uncertainReads];
    // Concurrent, because names change rarely and messages wait for this. The renewal also shows whether the store has lost our own
    // presence: such a store does not show other living instances, either.
    const [all, known] = await Promise.all([
      instances.all(),
      instances.living(others(names)),
      // If only our own presence cannot be reached, the view of the others is still good until we are fenced.
      renewOrAnnounce().catch(renewalFailed),
    ]);
    const joining = others(all).filter((instanceId) => !names.includes(instanceId));
    const joined = joining.length === 0 ? NONE : await instances.living(joining);
    names = all;
    const living = new Map([...known, ...joined].filter(([instanceId]) => all.includes(instanceId)));
    if (isAnnounced && !isFenced()) living.set(self.instanceId, self);
    view = { at, living };
    events.seen?.(living);
    const silent = others(all).filter((instanceId) => !living.has(instanceId));
    missedTime.seen(living);
    if (uncertainReads === uncertainBefore) missedTime.missed(silent, at);
    const gone = silent.filter(hadTimeToReturn);
    if (gone.length > 0) void declareDead(gone).catch(unreachable);
    if (silent.length === 0) reportDead([]);
    return living;
  }

  const others = (instanceIds: readonly string[]): readonly string[] =>
    instanceIds.filter((instanceId) => instanceId !== self.instanceId);

  /** Concurrent callers share one read. */
  function readOnce(): Promise<Living> {
    reading ??= readMembership().finally(() => {
      reading = undefined;
      scheduleRead();
    });
    return reading;
  }

  const isRecent = (): boolean => view !== undefined && clock.now() - view.at <= settings.viewMs;

  /** An instance that sent a message lives and waits for a reply, although it may have joined after the last read. */
  async function readAgainFor(expected: string): Promise<void> {
    if (view === undefined || view.living.has(expected)) return;
    const since = clock.now();
    const tooSoonMs = view.at + REREAD_MS - clock.now();
    if (tooSoonMs > 0) await sleep(clock, tooSoonMs);
    // Twice, because a read that was under way began earlier.
    for (let reads = 0; reads < 2 && !view.living.has(expected) && view.at <= since; reads++)
      await readOnce();
  }

  /** A single instance has no membership to refresh. */
  function scheduleRead(): void {
    if (isStopped || cancelRead !== undefined || view === undefined || names.length < 2) return;
    const dueMs = Math.max(0, view.at + REFRESH_AT * settings.viewMs - clock.now());
    // While the store fails, callers and the next tick read again; only a failed renewal is retried sooner.
    if (dueMs === 0 && !isRenewalDue) return;
    cancelRead = clock.after(isRenewalDue ? settings.intervalMs / TRIES_PER_INTERVAL : dueMs, () => {
      cancelRead = undefined;
      readOnce().catch(() => undefined);
    });
  }

  /** A late instance must not return after its takeover: the store decides between both. */
  async function declareDead(silent: readonly string[]): Promise<void> {
    const uncertainBefore = uncertainReads;
    const declarations = await Promise.all(silent.map((instanceId) => instances.declareDead(instanceId)));
    const dead = silent.filter((_, index) => declarations[index] === 'dead');
    if (mayTakeOver() && uncertainReads === uncertainBefore) reportDead(dead);
  }

  /** An empty list is reported once: those that returned or were removed are not dead any more. */
  function reportDead(dead: readonly string[]): void {
    if (dead.length > 0 || hasReportedDead) events.died(dead);
    hasReportedDead = dead.length > 0;
  }

  const mayTakeOver = (): boolean => !isStopped && !isFenced() && reachableSince !== Number.POSITIVE_INFINITY;

  /** During an outage no instance could renew: no death is declared until every instance had time to return. */
  const hadTimeToReturn = (instanceId: string): boolean =>
    mayTakeOver() &&
    Math.max(clock.now() - reachableSince, missedTime.lengthMs(instanceId)) >= 2 * settings.ttlMs;

  function markUncertain(): void {
    uncertainReads += 1;
    missedTime.markUncertain();
  }

  function holdOff(): void {
    markUncertain();
    if (reachableSince !== Number.POSITIVE_INFINITY) reachableSince = clock.now();
  }

  function unreachable(fault: unknown): void {
    markUncertain();
    reachableSince = Number.POSITIVE_INFINITY;
    log.warn({ err: fault }, 'membership could not be read from Redis');
  }

  function renewalFailed(fault: unknown): void {
    isRenewalDue = true;
    unreachable(fault);
  }

  function reached(sentAt: number): void {
    renewedAt = sentAt;
    isRenewalDue = false;
    if (reachableSince === Number.POSITIVE_INFINITY) reachableSince = clock.now();
  }

  /** Called by membership reads only, of which there is one at a time: so `lost` and a new incarnation happen once. */
  async function renewOrAnnounce(): Promise<void> {
    if (isStopped) return;
    if (isAnnounced) await renew();
    else if (self !== deps.first && !(await announce()))
      log.error({}, 'another instance has the name of this one');
  }

  async function renew(): Promise<void> {
    const sentAt = clock.now();
    const { kind, at } = await instances.renew(self, settings.ttlMs);
    storeClock.note({ sentAt, receivedAt: clock.now(), at });
    if (isStopped) return;
    const awayMs = at - (renewedAtStore ?? at);
    if (kind === 'lost' || (kind === 'revived' && awayMs > LONGEST_ABSENCE_MS)) return reincarnate(kind);
    reached(sentAt);
    renewedAtStore = at;
    if (kind === 'renewed') return;
    log.warn({ away_ms: awayMs }, 'the presence of this instance had ended and was written again');
    holdOff();
    events.emptied();
  }

  async function reincarnate(kind: 'lost' | 'revived'): Promise<void> {
    log.error({ was_fenced: isFenced() }, 'this instance was declared dead');
    isAnnounced = false;
    renewedAt = Number.NEGATIVE_INFINITY;
    const former = self;
    events.lost();
    self = { ...self, incarnation: deps.newIncarnation() };
    if (kind === 'revived') await instances.leave(former);
    if (!isStopped) await announce();
  }

  async function announce(): Promise<boolean> {
    const sentAt = clock.now();
    if ((await instances.announce(self, settings.ttlMs)) === 'taken') return false;
    isAnnounced = true;
    reached(sentAt);
    renewedAtStore = undefined;
    if (self !== deps.first && !isStopped) events.reincarnated();
    return true;
  }

  async function tick(): Promise<void> {
    if (isRenewalDue || !isRecent()) await readOnce().catch(renewalFailed);
    // The TTL is two intervals: one failed renewal must not end the presence.
    const nextMs = settings.intervalMs / (isRenewalDue ? TRIES_PER_INTERVAL : 1);
    if (!isStopped) cancel = clock.after(nextMs, () => void tick());
  }

  /** A process that restarts soon after a crash finds the presence of its previous incarnation. */
  async function announceWithin(limitMs: number): Promise<boolean> {
    const giveUpAt = clock.now() + limitMs;
    while (isStopped || !(await announce())) {
      if (isStopped || clock.now() > giveUpAt) return false;
      await sleep(clock, settings.intervalMs / TRIES_PER_INTERVAL);
    }
    return true;
  }

  return {
    async start() {
      if (!(await announceWithin(settings.ttlMs))) return 'taken';
      // Reads the time of the store.
      await renew().catch(renewalFailed);
      if (!isStopped) cancel = clock.after(settings.intervalMs, () => void tick());
      return 'started';
    },
    isFenced,
    self: () => self,
    driver: () => driverName(self),
    async living(expected) {
      if (!isRecent()) await readOnce();
      else if (expected !== undefined) await readAgainFor(expected);
      return view?.living ?? NONE;
    },
    storeNow: () => clock.now() + storeClock.offsetMs(),
    holdOff,
    async stop() {
      isStopped = true;
      cancel?.();
      cancelRead?.();
      await instances.leave(self).catch(unreachable);
    },
  };
}
