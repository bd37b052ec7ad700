/** Cold path: which services of one node are not believed, since it said that it lacks them, and how that ends. Pure. */

export interface MarkSettings {
  /** How long a mark keeps jobs away. */
  readonly ttlMs: number;
  /** Further reports of the same service in this time are the same news. */
  readonly debounceMs: number;
  /** When a probe without outcome may be repeated. */
  readonly probeTimeoutMs: number;
  /** The oldest goes. */
  readonly maxPerNode: number;
  /** Of all nodes; then no new one is made. */
  readonly maxKnown: number;
}

/** `marked`: no jobs for the service until `until`. `probation`: the next is a probe. `probing`: it is under way, and no other is given. */
export type MarkPhase = 'marked' | 'probation' | 'probing';

/**
 * Whom it keeps away. `service`: whoever needs the service, or its type where no other of it is ready. `type`: whoever needs the
 * type, since the others cannot do it either. `node`: everybody, since it is not those jobs that fail for it.
 */
export type MarkReach = 'service' | 'type' | 'node';

export interface Mark {
  readonly phase: MarkPhase;
  /** When the phase began. */
  readonly since: number;
  /** When it ends; a probation has no end. */
  readonly until: number;
  /** Since the mark the node said that the service is not ready: if it says ready now, something has changed. */
  readonly wasNotReady: boolean;
  /** A probe has failed: the node's word "ready" alone ends nothing any more. */
  readonly isDoubted: boolean;
  /** Reported again although it kept jobs away: then it must keep away more of them. */
  readonly reach: MarkReach;
}

/** By service id, the oldest mark first. A new map per change; never empty. */
export type Marks = ReadonlyMap<string, Mark>;

/** No marks are no object at all: nearly every node has none, nearly always. */
export type MaybeMarks = Marks | undefined;

/** Selection does not give it jobs for the service. */
export const isHidden = ({ phase }: Mark): boolean => phase !== 'probation';

/** What the node's own report says of a service. */
export type Readiness = 'ready' | 'not_ready' | 'unsaid';

export function afterReport(
  marks: MaybeMarks,
  serviceId: string,
  settings: MarkSettings,
  now: number,
): Marks {
  const known = marks?.get(serviceId);
  if (known === undefined) return putLast(marks, serviceId, newMark(settings, now), settings.maxPerNode);
  const isContradicted = known.phase !== 'marked';
  if (!isContradicted && now - known.since < settings.debounceMs) return marks as Marks;
  const isDoubted = known.isDoubted || isContradicted;
  const reach = isContradicted ? known.reach : WIDER[known.reach];
  return putLast(marks, serviceId, { ...newMark(settings, now), isDoubted, reach }, settings.maxPerNode);
}

/** A job that uses these services was placed: those on probation are probed by it. */
export const afterPlacement = (
  marks: Marks,
  used: ReadonlySet<string>,
  settings: MarkSettings,
  now: number,
): Marks =>
  change(marks, (mark, serviceId) =>
    mark.phase === 'probation' && used.has(serviceId)
      ? { ...mark, phase: 'probing', since: now, until: now + settings.probeTimeoutMs }
      : mark,
  ) as Marks;

/** What worked is there. */
export const afterSuccess = (marks: Marks, used: ReadonlySet<string>): MaybeMarks =>
  change(marks, (mark, serviceId) => (used.has(serviceId) ? undefined : mark));

/** A probe that failed, for whatever reason, is no proof that the service is back. */
export const afterFailure = (
  marks: Marks,
  used: ReadonlySet<string>,
  settings: MarkSettings,
  now: number,
): Marks =>
  change(marks, (mark, serviceId) =>
    mark.phase === 'probing' && used.has(serviceId)
      ? { ...newMark(settings, now), isDoubted: true, reach: mark.reach }
      : mark,
  ) as Marks;

/** A probe that ended and says nothing of the service: the next job may be one. */
export const afterNothing = (marks: Marks, used: ReadonlySet<string>, now: number): Marks =>
  change(marks, (mark, serviceId) =>
    mark.phase === 'probing' && used.has(serviceId) ? onProbation(mark, now) : mark,
  ) as Marks;

/** A mark ends on trial; a probe whose outcome never came may be repeated. */
export const afterTime = (marks: Marks, now: number): Marks =>
  change(marks, (mark) => (isHidden(mark) && now >= mark.until ? onProbation(mark, now) : mark)) as Marks;

/** The node has reported on its services. */
export const afterClaims = (
  marks: Marks,
  readinessOf: (serviceId: string) => Readiness,
  now: number,
): Marks =>
  change(marks, (mark, serviceId) => {
    if (mark.phase !== 'marked') return mark;
    const readiness = readinessOf(serviceId);
    if (readiness === 'not_ready') return mark.wasNotReady ? mark : { ...mark, wasNotReady: true };
    if (readiness === 'unsaid' || (mark.isDoubted && !mark.wasNotReady)) return mark;
    return onProbation(mark, now);
  }) as Marks;

const newMark = ({ ttlMs }: MarkSettings, now: number): Mark => ({
  phase: 'marked',
  since: now,
  until: now + ttlMs,
  wasNotReady: false,
  isDoubted: false,
  reach: 'service',
});

const WIDER: Readonly<Record<MarkReach, MarkReach>> = { service: 'type', type: 'node', node: 'node' };

const onProbation = (mark: Mark, now: number): Mark => ({
  ...mark,
  phase: 'probation',
  since: now,
  until: Number.POSITIVE_INFINITY,
});

/** The same object if nothing changes; undefined when the last mark is gone. */
function change(marks: Marks, next: (mark: Mark, serviceId: string) => Mark | undefined): MaybeMarks {
  let changed: Map<string, Mark> | undefined;
  for (const [serviceId, mark] of marks) {
    const after = next(mark, serviceId);
    if (after === mark) continue;
    changed ??= new Map(marks);
    if (after === undefined) changed.delete(serviceId);
    else changed.set(serviceId, after);
  }
  if (changed === undefined) return marks;
  return changed.size === 0 ? undefined : changed;
}

function putLast(marks: MaybeMarks, serviceId: string, mark: Mark, max: number): Marks {
  const changed = new Map(marks);
  changed.delete(serviceId);
  for (const oldest of changed.keys()) {
    if (changed.size < max) break;
    changed.delete(oldest);
  }
  return changed.set(serviceId, mark);
}
