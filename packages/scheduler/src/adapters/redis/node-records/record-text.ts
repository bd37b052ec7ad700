/**
 * A node record as text, small enough for one per node: a line for the node, a line for its profile. Equal lists are written once, and
 * equal profiles become one object when they are read.
 */
import { ANY, type Direction } from '../../../domain/language.ts';
import type { NodeChannel, NodeHealth, NodeView } from '../../../domain/node.ts';
import type { NodeBinding, NodeExtension, NodeProfile } from '../../../domain/profile.ts';
import type { NodeRecord, RecordVersion } from '../../../ports/node-records.ts';

/** First in every text. For a reader with another format the node record is absent. */
const FORMAT = 2;

type Words = typeof ANY | readonly string[];

export function recordText(record: NodeRecord): string {
  const { holder, channel, endpoint, view, intervalMs, credential, runningJobIds } = record;
  const { region, zone, platform, programVersion } = record;
  const { health, slots, lastBeatAt, markedServices, markedTypes, marksEndAt, orderReason } = view;
  const flags = bitsOf(VIEW_FLAGS, view);
  const fixed = [FORMAT, holder.instanceId, holder.incarnation, channel, intervalMs, health, flags, slots];
  const rest: Rest = {
    c: credential,
    ...(endpoint !== undefined && { e: endpoint }),
    ...(region !== undefined && { r: region }),
    ...(zone !== undefined && { z: zone }),
    ...(platform !== undefined && { p: platform }),
    ...(programVersion !== undefined && { v: programVersion }),
    ...(orderReason !== undefined && { o: orderReason }),
    ...(view.leavingAt !== undefined && { w: view.leavingAt }),
    ...(!view.isConnected && { l: 1 }),
    ...(runningJobIds !== undefined && { j: runningJobIds }),
    ...(markedServices.length > 0 && { m: markedServices }),
    ...(markedTypes.length > 0 && { t: markedTypes }),
    ...(marksEndAt !== undefined && { u: marksEndAt }),
  };
  return `${JSON.stringify([...fixed, lastBeatAt, rest])}\n${profileText(view.profile)}`;
}

function profileText(profile: NodeProfile): string {
  const lists = new Map<string, number>();
  const numberOf = (words: Words): number => {
    if (words === ANY) return -1;
    const text = JSON.stringify(words);
    const known = lists.get(text) ?? lists.size;
    lists.set(text, known);
    return known;
  };
  const { nmt, privateTo, binding } = profile;
  const owner = privateTo === undefined ? '' : `,${JSON.stringify(privateTo)}`;
  const all: readonly Words[] = [
    ...LISTS.map((name) => profile[name]),
    nmt.sources,
    nmt.targets,
    nmt.blocked.flatMap(({ source, target }) => [source, target]),
    nmt.pairs.flatMap(({ source, target }) => [source, target]),
    // Earlier versions do not read the last list.
    ...(binding === undefined ? [] : [[binding.tenantId ?? '', ...(binding.poolIds ?? []).map(String)]]),
  ];
  const numbers = all.map(numberOf);
  return `[${bitsOf(PROFILE_FLAGS, profile)},[${numbers.join()}],[${[...lists.keys()].join()}]${owner}]`;
}

/** Total text of the profiles that are kept for sharing; enough for some thousand kinds of nodes. */
const SHARED_CHARS = 4_000_000;

/** Undefined for a text of another version. */
export function createRecordReader(): (version: RecordVersion, text: string) => NodeRecord | undefined {
  /** No profile is kept alive that no node has. */
  const profiles = new Map<string, WeakRef<NodeProfile>>();
  let chars = 0;

  function profileOf(text: string): NodeProfile {
    const known = profiles.get(text)?.deref();
    if (known !== undefined) return known;
    const profile = readProfile(text);
    if (!profiles.delete(text)) chars += text.length;
    profiles.set(text, new WeakRef(profile));
    for (const oldest of profiles.keys()) {
      if (chars <= SHARED_CHARS) break;
      profiles.delete(oldest);
      chars -= oldest.length;
    }
    return profile;
  }

  return (version, text) => {
    try {
      const end = text.indexOf('\n');
      return readRecord(version, text.slice(0, end), profileOf(text.slice(end + 1)));
    } catch {
      return undefined;
    }
  };
}

interface Rest {
  readonly c: string;
  /** Its connection is lost. */
  readonly l?: 1;
  readonly j?: readonly string[];
  readonly e?: string;
  readonly r?: string;
  readonly z?: string;
  readonly p?: string;
  /** Version of the node program. */
  readonly v?: string;
  /** Reason of an operator's order. */
  readonly o?: string;
  /** When it stops. */
  readonly w?: number;
  readonly m?: readonly string[];
  readonly t?: readonly string[];
  readonly u?: readonly number[];
}

type RecordLine = [
  format: number,
  instanceId: string,
  incarnation: string,
  channel: NodeChannel,
  intervalMs: number,
  health: NodeHealth,
  flags: number,
  slots: number,
  lastBeatAt: number,
  rest: Rest,
];

function readRecord(version: RecordVersion, line: string, profile: NodeProfile): NodeRecord | undefined {
  const [format, instanceId, incarnation, channel, intervalMs, health, flags, slots, lastBeatAt, rest] =
    JSON.parse(line) as RecordLine;
  if (format !== FORMAT) return undefined;
  const view: NodeView = {
    nodeId: version.nodeId,
    profile,
    health,
    isConnected: rest.l !== 1,
    ...flagsOf(VIEW_FLAGS, flags),
    slots,
    lastBeatAt,
    markedServices: rest.m ?? NONE,
    markedTypes: rest.t ?? NONE,
    ...(rest.u !== undefined && { marksEndAt: rest.u }),
    ...(rest.o !== undefined && { orderReason: rest.o }),
    ...(rest.w !== undefined && { leavingAt: rest.w }),
    ...(rest.r !== undefined && { region: rest.r }),
    ...(rest.z !== undefined && { zone: rest.z }),
  };
  return {
    ...version,
    holder: { instanceId, incarnation },
    channel,
    ...(rest.e !== undefined && { endpoint: rest.e }),
    view,
    credential: rest.c,
    ...(rest.j !== undefined && { runningJobIds: rest.j }),
    intervalMs,
    ...(rest.r !== undefined && { region: rest.r }),
    ...(rest.z !== undefined && { zone: rest.z }),
    ...(rest.p !== undefined && { platform: rest.p }),
    ...(rest.v !== undefined && { programVersion: rest.v }),
  };
}

function readProfile(text: string): NodeProfile {
  const [flags, numbers, lists, privateTo] = JSON.parse(text) as [number, number[], string[][], string?];
  const words = (at: number): Words => (numbers[at] === -1 ? ANY : (lists[numbers[at] as number] as Words));
  const list = (at: number): readonly string[] => words(at) as readonly string[];
  const [boundTenant, ...boundPools] = list(13) ?? [];
  return {
    installedTypes: words(0),
    readyTypes: words(1),
    asr: words(2),
    semantic: words(3),
    tts: words(4),
    installedServices: list(5),
    readyServices: list(6),
    features: list(7),
    supports: list(8) as readonly NodeExtension[],
    nmt: {
      sources: words(9),
      targets: words(10),
      blocked: directionsOf(list(11)),
      pairs: directionsOf(list(12)),
    },
    ...flagsOf(PROFILE_FLAGS, flags),
    ...(privateTo !== undefined && { privateTo }),
    ...(boundTenant !== undefined && { binding: bindingOf(boundTenant, boundPools.map(Number)) }),
  };
}

const bindingOf = (tenantId: string, poolIds: readonly number[]): NodeBinding => ({
  ...(tenantId !== '' && { tenantId }),
  ...(poolIds.length > 0 && { poolIds }),
});

/** In the order of writing; `readProfile` uses the numbers. */
const LISTS = [
  'installedTypes',
  'readyTypes',
  'asr',
  'semantic',
  'tts',
  'installedServices',
  'readyServices',
  'features',
  'supports',
] as const;

/** Bits from the lowest; add new ones at the end. */
const VIEW_FLAGS = ['isFresh', 'isCalm', 'isQueueing', 'isCordoned', 'isEjected'] as const;
const PROFILE_FLAGS = ['hasGpu', 'isLegacy'] as const;

const bitsOf = <K extends string>(names: readonly K[], facts: Readonly<Record<K, boolean>>): number =>
  names.reduce((bits, name, at) => bits + (facts[name] ? 1 << at : 0), 0);

const flagsOf = <K extends string>(names: readonly K[], bits: number): Record<K, boolean> =>
  Object.fromEntries(names.map((name, at) => [name, (bits & (1 << at)) !== 0])) as Record<K, boolean>;

const NONE: readonly never[] = [];

const directionsOf = (words: readonly string[]): readonly Direction[] =>
  Array.from({ length: words.length / 2 }, (_, at) => ({
    source: words[2 * at] as string,
    target: words[2 * at + 1] as string,
  }));
