/** Background actor: says that this instance lives, knows who else does, and notices when it was itself taken for dead. */
import type { Cancel, Clock } from '../../ports/clock.ts';
import { DEATH_REMEMBERED_MS, type Instance, type Instances, type Living } from '../../ports/instances.ts';
import type { Log } from '../../ports/log.ts';
import { createMissedTime } from './missed-time.ts';
import { createStoreTime } from './store-clock.ts';

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
  /** It lives again, as another incarnation: what nobody adopted of the former one is for it to take over. */
  reborn(): void;
  /**
   * Its presence had ended, but nobody had taken it for dead: the store was away or has lost data. It goes on under the same
   * incarnation, and writes anew what the store may have lost.
   */
  emptied(): void;
  /**
   * These announced themselves once, live no more, and cannot come back under the incarnation they had. Said at every look until
   * they are adopted and removed; then once with nobody.
   */
  died(instanceIds: readonly string[]): void;
  /** Those that lived at the last look. */
  seen?(living: Living): void;
}

export interface Presence {
  /** `taken`: another living instance has this name, and kept it for as long as a dead one could have. */
  start(): Promise<'started' | 'taken'>;
  /**
   * It may have been adopted without knowing: nothing may be sent or written until a renewal has succeeded. Decided by the
   * time at which the last successful renewal was sent, so that a slow answer cannot lengthen its life.
   */
  isFenced(): boolean;
  self(): Instance;
  /** Those that lived when last looked, at most `viewMs` ago; just now, if the one expected was not among them. */
  living(expected?: string): Promise<Living>;
  /** The time by the store's clock (epoch ms): what instances can compare although their own clocks differ. */
  storeNow(): number;
  /** The store may have lost data, as at a failover: silence proves no death until everybody had time to come back. */
  freeze(): void;
  /** Says good-bye, so that what is left is adopted at once. */
  stop(): Promise<void>;
}

const TRIES_PER_INTERVAL = 4;
/** Who was away longer cannot know whether its death was declared and forgotten. */
const LONGEST_ABSENCE_MS = DEATH_REMEMBERED_MS / 2;
/** Whom a message is for and who was not there may have joined since: that is looked up again, though not for every message. */
const MISSED_APART_MS = 25;
/** The share of `viewMs` after which others are looked at anew, by the clock: nobody then waits for it, and no job asks for it. */
const LOOK_AGAIN_AT = 0.8;
const NOBODY: Living = new Map();

export function createPresence(deps: {
  instances: Instances;
  clock: Clock;
  log: Log;
  settings: PresenceSettings;
  events: PresenceEvents;
  first: Instance;
  /** A name for the next incarnation, and what goes with it. */
  newIncarnation: () => string;
}): Presence {
  const { instances, clock, log, settings, events } = deps;
  const storeTime = createStoreTime();
  const missedTime = createMissedTime(settings.intervalMs);
  let self = deps.first;
  /** When the last successful renewal was sent, by this clock. */
  let renewedAt = Number.NEGATIVE_INFINITY;
  /** When it was done, by the store's. */
  let renewedAtStore: number | undefined;
  let reachableSince = Number.POSITIVE_INFINITY;
  /** How often what the store shows was in doubt. */
  let doubts = 0;
  let view: { readonly at: number; readonly living: Living } | undefined;
  /** As last listed. */
  let names: readonly string[] = [];
  let looking: Promise<Living> | undefined;
  let cancelLook: Cancel | undefined;
  let cancel: Cancel | undefined;
  let isAnnounced = false;
  /** The last one failed. */
  let isRenewalDue = false;
  let hasToldDead = false;
  let isStopped = false;

  const isFenced = (): boolean => clock.now() - renewedAt > settings.ttlMs;

  async function lookAround(): Promise<Living> {
    const [at, doubtsBefore] = [clock.now(), doubts];
    // At once: names seldom change, and messages wait for this. Whether it is there itself its renewal says: a store that has lost
    // data does not show others who are as alive as this instance.
    const [all, known] = await Promise.all([
      instances.all(),
      instances.living(others(names)),
      // Where its own presence cannot be reached, others are told as long as it lives.
      stayAlive().catch(notRenewed),
    ]);
    const unasked = others(all).filter((instanceId) => !names.includes(instanceId));
    const joined = unasked.length === 0 ? NOBODY : await instances.living(unasked);
    names = all;
    const living = new Map([...known, ...joined].filter(([instanceId]) => all.includes(instanceId)));
    if (isAnnounced && !isFenced()) living.set(self.instanceId, self);
    view = { at, living };
    events.seen?.(living);
    const silent = others(all).filter((instanceId) => !living.has(instanceId));
    missedTime.seen(living);
    if (doubts === doubtsBefore) missedTime.missed(silent, at);
    const gone = silent.filter(hadTimeToComeBack);
    if (gone.length > 0) void tellDead(gone).catch(unreachable);
    if (silent.length === 0) tellDied([]);
    return living;
  }

  const others = (instanceIds: readonly string[]): readonly string[] =>
    instanceIds.filter((instanceId) => instanceId !== self.instanceId);

  /** One look at a time: many may ask at once. */
  function look(): Promise<Living> {
    looking ??= lookAround().finally(() => {
      looking = undefined;
      lookAgainSoon();
    });
    return looking;
  }

  const isRecent = (): boolean => view !== undefined && clock.now() - view.at <= settings.viewMs;

  /** Whoever writes to this instance is there, and wants an answer, also if it joined after the last look. */
  async function lookFor(expected: string): Promise<void> {
    if (view === undefined || view.living.has(expected)) return;
    const since = clock.now();
    const tooSoonMs = view.at + MISSED_APART_MS - clock.now();
    if (tooSoonMs > 0) await new Promise<void>((resolve) => clock.after(tooSoonMs, resolve));
    // Once more, if the look that was under way had begun before.
    for (let looks = 0; looks < 2 && !view.living.has(expected) && view.at <= since; looks++) await look();
  }

  /** Not by an instance that is alone: whom it does not know of it has nothing to tell. */
  function lookAgainSoon(): void {
    if (isStopped || cancelLook !== undefined || view === undefined || names.length < 2) return;
    const dueMs = Math.max(0, view.at + LOOK_AGAIN_AT * settings.viewMs - clock.now());
    // A store that does not answer is asked again by whoever needs it, and by its next turn; for a renewal not as late as that.
    if (dueMs === 0 && !isRenewalDue) return;
    cancelLook = clock.after(isRenewalDue ? settings.intervalMs / TRIES_PER_INTERVAL : dueMs, () => {
      cancelLook = undefined;
      look().catch(() => undefined);
    });
  }

  /** Who is only late must not come back after it was adopted: the store decides between the two. */
  async function tellDead(silent: readonly string[]): Promise<void> {
    const doubtsBefore = doubts;
    const verdicts = await Promise.all(silent.map((instanceId) => instances.declareDead(instanceId)));
    const dead = silent.filter((_, index) => verdicts[index] === 'dead');
    if (mayAdopt() && doubts === doubtsBefore) tellDied(dead);
  }

  /** Nobody is said once: who came back, or was adopted, is dead no more. */
  function tellDied(dead: readonly string[]): void {
    if (dead.length > 0 || hasToldDead) events.died(dead);
    hasToldDead = dead.length > 0;
  }

  const mayAdopt = (): boolean => !isStopped && !isFenced() && reachableSince !== Number.POSITIVE_INFINITY;

  /** After an outage nobody has renewed anything: silence proves no death until everybody had time to come back. */
  const hadTimeToComeBack = (instanceId: string): boolean =>
    mayAdopt() &&
    Math.max(clock.now() - reachableSince, missedTime.lengthMs(instanceId)) >= 2 * settings.ttlMs;

  function doubt(): void {
    doubts += 1;
    missedTime.doubt();
  }

  function freeze(): void {
    doubt();
    if (reachableSince !== Number.POSITIVE_INFINITY) reachableSince = clock.now();
  }

  function unreachable(fault: unknown): void {
    doubt();
    reachableSince = Number.POSITIVE_INFINITY;
    log.warn({ err: fault }, 'the store could not be asked about instances');
  }

  function notRenewed(fault: unknown): void {
    isRenewalDue = true;
    unreachable(fault);
  }

  function reached(sentAt: number): void {
    renewedAt = sentAt;
    isRenewalDue = false;
    if (reachableSince === Number.POSITIVE_INFINITY) reachableSince = clock.now();
  }

  /** Only by looks, of which there is one at a time: nobody is to learn twice that it was lost, or begin anew twice. */
  async function stayAlive(): Promise<void> {
    if (isStopped) return;
    if (isAnnounced) await renew();
    else if (self !== deps.first && !(await announce()))
      log.error({ instance_id: self.instanceId }, 'another has the name of this instance');
  }

  async function renew(): Promise<void> {
    const sentAt = clock.now();
    const { kind, at } = await instances.renew(self, settings.ttlMs);
    storeTime.note({ sentAt, receivedAt: clock.now(), at });
    if (isStopped) return;
    const awayMs = at - (renewedAtStore ?? at);
    if (kind === 'lost' || (kind === 'revived' && awayMs > LONGEST_ABSENCE_MS)) return beginAnew(kind);
    reached(sentAt);
    renewedAtStore = at;
    if (kind === 'renewed') return;
    log.warn(
      { instance_id: self.instanceId, away_ms: awayMs },
      'the presence of this instance was renewed anew',
    );
    freeze();
    events.emptied();
  }

  async function beginAnew(kind: 'lost' | 'revived'): Promise<void> {
    log.error({ instance_id: self.instanceId, was_fenced: isFenced() }, 'this instance was taken for dead');
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
    if (self !== deps.first && !isStopped) events.reborn();
    return true;
  }

  async function tick(): Promise<void> {
    if (isRenewalDue || !isRecent()) await look().catch(notRenewed);
    // A life is two intervals: one renewal that failed must not be the end of it.
    const nextMs = settings.intervalMs / (isRenewalDue ? TRIES_PER_INTERVAL : 1);
    if (!isStopped) cancel = clock.after(nextMs, () => void tick());
  }

  /** A process that is started again soon after it was killed finds its former self still present. */
  async function announceWithin(limitMs: number): Promise<boolean> {
    const giveUpAt = clock.now() + limitMs;
    while (isStopped || !(await announce())) {
      if (isStopped || clock.now() > giveUpAt) return false;
      await new Promise<void>((resolve) => clock.after(settings.intervalMs / TRIES_PER_INTERVAL, resolve));
    }
    return true;
  }

  return {
    async start() {
      if (!(await announceWithin(settings.ttlMs))) return 'taken';
      // For the store's time, from the first moment on.
      await renew().catch(notRenewed);
      if (!isStopped) cancel = clock.after(settings.intervalMs, () => void tick());
      return 'started';
    },
    isFenced,
    self: () => self,
    async living(expected) {
      if (!isRecent()) await look();
      else if (expected !== undefined) await lookFor(expected);
      return view?.living ?? NOBODY;
    },
    storeNow: () => clock.now() + storeTime.offsetMs(),
    freeze,
    async stop() {
      isStopped = true;
      cancel?.();
      cancelLook?.();
      await instances.leave(self).catch(unreachable);
    },
  };
}
