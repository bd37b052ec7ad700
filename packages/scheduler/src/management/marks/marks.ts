/** Cold path: services that a node has reported as missing, and how such a mark ends. Pure. */

export interface MarkSettings {
  /** How long a mark keeps jobs away. */
  readonly ttlMs: number;
  /** Further reports of the same service within this time count as one. */
  readonly debounceMs: number;
  /** When a probe without an outcome may be repeated. */
  readonly probeTimeoutMs: number;
  /** Marks per node; beyond it the oldest is dropped. */
  readonly maxPerNode: number;
  /** Marks of all nodes; beyond it no new mark is made. */
  readonly maxKnown: number;
}

/**
 * `marked`: no jobs for the service until `until`. `probation`: the next job is a probe. `probing`: the probe is in progress, and no other
 * job is sent.
 */
export type MarkPhase = 'marked' | 'probation' | 'probing';

/**
 * Which jobs it keeps away. `service`: jobs that need the service, or its type if no other service of it is ready. `type`: jobs that need
 * the type, since the other services cannot do it either. `node`: all jobs, since jobs that do not need the service fail, too.
 */
export type MarkReach = 'service' | 'type' | 'node';

export interface Mark {
  readonly phase: MarkPhase;
  /** Start of the phase. */
  readonly since: number;
  /** End of the phase; a probation has no end. */
  readonly until: number;
  /** The service was reported again although the mark kept jobs away: the mark must keep away more jobs. */
  readonly reach: MarkReach;
}

/** By service id, oldest mark first. Replaced at each change; never empty. */
export type Marks = ReadonlyMap<string, Mark>;

/** Undefined instead of an empty map: nearly every node has no marks. */
export type MaybeMarks = Marks | undefined;

/** Selection sends the node no jobs for the service. */
export const isHidden = ({ phase }: Mark): boolean => phase !== 'probation';

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
  const reach = isContradicted ? known.reach : WIDER[known.reach];
  return putLast(marks, serviceId, { ...newMark(settings, now), reach }, settings.maxPerNode);
}

/** A job that uses these services was placed: it probes those on probation. */
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

/** A service that worked is available. */
export const afterSuccess = (marks: Marks, used: ReadonlySet<string>): MaybeMarks =>
  change(marks, (mark, serviceId) => (used.has(serviceId) ? undefined : mark));

/** A failed probe, for any reason, does not prove that the service is available. */
export const afterFailure = (
  marks: Marks,
  used: ReadonlySet<string>,
  settings: MarkSettings,
  now: number,
): Marks =>
  change(marks, (mark, serviceId) =>
    mark.phase === 'probing' && used.has(serviceId) ? { ...newMark(settings, now), reach: mark.reach } : mark,
  ) as Marks;

/** A probe ended without saying anything about the service: the next job may be a probe. */
export const afterNothing = (marks: Marks, used: ReadonlySet<string>, now: number): Marks =>
  change(marks, (mark, serviceId) =>
    mark.phase === 'probing' && used.has(serviceId) ? onProbation(mark, now) : mark,
  ) as Marks;

/** A mark ends with a probation; a probe without an outcome may be repeated. */
export const afterTime = (marks: Marks, now: number): Marks =>
  change(marks, (mark) => (isHidden(mark) && now >= mark.until ? onProbation(mark, now) : mark)) as Marks;

/** The node's report has changed. A service that was reported as ready before the mark, too, is no news: only a change to ready is. */
export const afterClaims = (marks: Marks, becameReady: (serviceId: string) => boolean, now: number): Marks =>
  change(marks, (mark, serviceId) =>
    mark.phase === 'marked' && becameReady(serviceId) ? onProbation(mark, now) : mark,
  ) as Marks;

const newMark = ({ ttlMs }: MarkSettings, now: number): Mark => ({
  phase: 'marked',
  since: now,
  until: now + ttlMs,
  reach: 'service',
});

const WIDER: Readonly<Record<MarkReach, MarkReach>> = { service: 'type', type: 'node', node: 'node' };

const onProbation = (mark: Mark, now: number): Mark => ({
  ...mark,
  phase: 'probation',
  since: now,
  until: Number.POSITIVE_INFINITY,
});

/** Returns the same object if nothing changes, and undefined when the last mark ends. */
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
