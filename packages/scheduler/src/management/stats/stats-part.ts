/** Cold path: the statistics of one instance or of all instances, in one shape. Data; sent to other instances as JSON. */
import type { Efficiencies } from '../../domain/capability-report.ts';

export interface Power {
  readonly cpu: number;
  readonly gpu: number;
  readonly memory: number;
}

export interface NodePower extends Power {
  readonly nodeId: string;
  readonly efficiencies?: Efficiencies;
}

/** Name and number of nodes. The most frequent first; the rest is summed under `other`. */
export type Counts = readonly (readonly [name: string, nodes: number])[];

/** Language, with the number of sessions that have it as source and as target. */
export type LanguageCounts = readonly (readonly [language: string, asSource: number, asTarget: number])[];

export interface StatsPart {
  readonly activeUsers: number;
  readonly languages: LanguageCounts;
  readonly connectedNodes: number;
  readonly models: Counts;
  readonly services: Counts;
  readonly types: Counts;
  readonly typesInUse: Counts;
  /** Of all nodes, including those without details. */
  readonly power: Power;
  /** The most powerful first, at most `MAX_DETAILS`. */
  readonly details: readonly NodePower[];
}

export const OTHER = 'other';
/** Limit for models, services and types each; a fleet has dozens. */
export const MAX_NAMES = 500;
export const MAX_LANGUAGES = 200;
export const MAX_DETAILS = 500;

/** Twice the length of the longest that is written. */
const MAX_PART_CHARS = 2_000_000;

/** Reads a part that another instance wrote, perhaps of another version; undefined: not readable. */
export function readPart(text: string): StatsPart | undefined {
  if (text.length > MAX_PART_CHARS) return undefined;
  let part: Partial<StatsPart> | null;
  try {
    part = JSON.parse(text) as Partial<StatsPart> | null;
  } catch {
    return undefined;
  }
  const { activeUsers, connectedNodes, languages, models, services, types, typesInUse, power, details } =
    part ?? {};
  const isWhole =
    [activeUsers, connectedNodes].every(Number.isFinite) &&
    isPower(power) &&
    [models, services, types, typesInUse].every((counts) => isNamed(counts, 1)) &&
    isNamed(languages, 2) &&
    Array.isArray(details) &&
    details.every(isNodePower);
  return isWhole ? (part as StatsPart) : undefined;
}

/** A list of names, each with that many figures. */
const isNamed = (given: unknown, figures: number): boolean =>
  Array.isArray(given) &&
  given.every(
    (entry: unknown) =>
      Array.isArray(entry) &&
      entry.length === figures + 1 &&
      entry.every((value, at) => (at === 0 ? typeof value === 'string' : Number.isFinite(value))),
  );

const isPower = (given: Partial<Power> | null | undefined): boolean =>
  [given?.cpu, given?.gpu, given?.memory].every(Number.isFinite);

const isNodePower = (given: Partial<NodePower> | null): boolean =>
  typeof given?.nodeId === 'string' &&
  isPower(given) &&
  (given.efficiencies === undefined || isNamed(given.efficiencies, 1));
