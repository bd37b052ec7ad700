/** Cold path: what the marks of a node mean for its service types, because most jobs need types. Pure. */
import type { CapabilityReport } from '../../domain/capability-report.ts';
import { ANY } from '../../domain/language.ts';
import { type NodeProfile, SERVICE_TYPES } from '../../domain/profile.ts';
import type { ServiceUse } from '../../domain/service-use.ts';
import { isHidden, type Mark, type Marks } from './marks.ts';

/** Undefined: the service type is not known. */
export type TypeOf = (serviceId: string) => string | undefined;

export interface Hidden {
  readonly services: readonly string[];
  readonly types: readonly string[];
  /** When each is visible again: first the services, then the types. Absent: none is hidden. */
  readonly endsAt?: readonly number[];
}

const NO_WORDS: readonly string[] = [];

/** Shared by all nodes without marks, so comparing it is cheap. */
export const NOTHING_HIDDEN: Hidden = { services: NO_WORDS, types: NO_WORDS };

/** What selection must not find on the node: the marked services, and the types that only they provide. */
export function hiddenBy(marks: Marks, profile: NodeProfile, typeOf: TypeOf): Hidden {
  const services = new Map<string, number>();
  const types = new Map<string, number>();
  /** Marked services of a type, as long as no unmarked service of the type was found: one of them is enough. */
  const closed = new Map<string, number>();
  // A type is hidden until the last of the marks on it ends.
  const hide = (type: string, until: number) => void types.set(type, Math.max(until, types.get(type) ?? 0));
  for (const [serviceId, mark] of marks) {
    if (!isHidden(mark)) continue;
    const { until } = mark;
    services.set(serviceId, until);
    const type = typeOf(serviceId);
    if (isForAll(mark, type)) for (const each of typesOf(profile)) hide(each, until);
    else if (type === undefined) continue;
    else if (mark.reach === 'service') closed.set(type, Math.min(until, closed.get(type) ?? until));
    else hide(type, until);
  }
  // Most nodes have few services, but some have thousands, and finding the type of each is the expensive part.
  for (const serviceId of profile.readyServices) {
    if (closed.size === 0) break;
    const mark = marks.get(serviceId);
    if (mark === undefined || !isHidden(mark)) closed.delete(typeOf(serviceId) ?? '');
  }
  for (const [type, until] of closed) hide(type, until);
  const hidden = { services: [...services.keys()].sort(), types: [...types.keys()].sort() };
  if (services.size === 0) return hidden;
  const endsAt = [
    ...hidden.services.map((serviceId) => services.get(serviceId) as number),
    ...hidden.types.map((type) => types.get(type) as number),
  ];
  return { ...hidden, endsAt };
}

/** Jobs that do not need the type fail as well, or the type is not known. */
const isForAll = ({ reach }: Mark, type: string | undefined): boolean =>
  reach === 'node' || (reach === 'type' && type === undefined);

const typesOf = ({ readyTypes }: NodeProfile): readonly string[] =>
  readyTypes === ANY ? SERVICE_TYPES : readyTypes;

/**
 * Which marked services a job on the node uses: those it names, and those of the types it needs, unless an unmarked service of the node may
 * have done the work. If several may have, the services whose marks kept jobs away did not.
 */
export function usedAmong(
  marks: Marks,
  profile: NodeProfile,
  typeOf: TypeOf,
  { types, services }: ServiceUse,
): ReadonlySet<string> {
  const used = new Set<string>();
  for (const serviceId of services) if (marks.has(serviceId)) used.add(serviceId);
  // A mark that keeps all jobs away is probed by the next job; a job from before proves nothing.
  for (const [serviceId, mark] of marks)
    if (mark.phase !== 'marked' && isForAll(mark, typeOf(serviceId))) used.add(serviceId);
  // Called for every attempt: jobs that need no marked type must not pay for a node with many services.
  const hasClean = (type: string): boolean =>
    profile.readyServices.some((serviceId) => !marks.has(serviceId) && typeOf(serviceId) === type);
  for (const type of types) {
    const ofType = [...marks].filter(([serviceId]) => typeOf(serviceId) === type);
    const open = ofType.filter(([, { phase }]) => phase !== 'marked');
    for (const [serviceId, { reach }] of open.length > 0 ? open : ofType)
      if (reach !== 'service' || !hasClean(type)) used.add(serviceId);
  }
  return used;
}

/** Whether the node reports the service as ready; `profile` and `typeOf` follow from its report. */
export function isReportedReady(
  { types }: Pick<CapabilityReport, 'types'>,
  profile: NodeProfile,
  typeOf: TypeOf,
  serviceId: string,
): boolean {
  const type = typeOf(serviceId);
  const isTypeReady = type !== undefined && (profile.readyTypes === ANY || profile.readyTypes.includes(type));
  if (type !== undefined && types !== undefined && !isTypeReady) return false;
  // A node that lists services without this one does not have it; a node that lists none only reports types.
  return profile.installedServices.length > 0 ? profile.readyServices.includes(serviceId) : isTypeReady;
}
