/** Cold path: which nodes can translate what, for every pair of languages in the fleet. Some pairs at a time (I6). */
import { countBits, hasBit } from '../../domain/bits.ts';
import { ANY, type Language, type LanguageSet } from '../../domain/language.ts';
import type { Need } from '../../domain/need.ts';
import type { NodeProfile } from '../../domain/profile.ts';
import type { FleetView } from '../fleet/fleet-view.ts';
import { clausesOf } from '../select/clauses.ts';

export interface LanguageCell {
  readonly source: Language;
  readonly target: Language;
  /** Nodes with these languages and the services of a usual job. */
  readonly nodes: number;
  /** Of these, nodes that take new jobs: a cordoned or ejected one does not. */
  readonly ready: number;
  readonly slots: number;
  readonly free: number;
  /** No node speaks the target: these translate into text. */
  readonly isTextOnly?: true;
}

export interface LanguageMatrix {
  readonly cells: readonly LanguageCell[];
  /** Not all languages are shown. */
  readonly isTruncated: boolean;
}

/** I11: the languages of most nodes are shown; 60 × 60 cells fill any screen. */
const MAX_LANGUAGES = 60;
const CELLS_PER_SLICE = 20;
const NODES_PER_SLICE = 1_000;

/** `needOf`: what a usual job from one language to another needs, with or without a voice. */
export function* readLanguageMatrix(
  fleet: FleetView,
  needOf: (source: Language, target: Language, hasVoice: boolean) => Need,
): Generator<void, LanguageMatrix> {
  const { sources, targets, isTruncated } = yield* namedLanguages(fleet);
  const cells: LanguageCell[] = [];
  let done = 0;
  for (const source of sources) {
    for (const target of targets) {
      if (++done % CELLS_PER_SLICE === 0) yield;
      if (source === target) continue;
      const spoken = readCell(fleet, needOf(source, target, true), source, target);
      if (spoken.nodes > 0) {
        cells.push(spoken);
        continue;
      }
      const read = readCell(fleet, needOf(source, target, false), source, target);
      if (read.nodes > 0) cells.push({ ...read, isTextOnly: true });
    }
  }
  return { cells, isTruncated };
}

function readCell(fleet: FleetView, need: Need, source: Language, target: Language): LanguageCell {
  const { columns, facts, narrow } = fleet.table;
  const able = new Uint32Array(columns.usable.length);
  facts.or('alive', able);
  for (const { formula } of clausesOf(need, undefined)) narrow(formula, able);
  let ready = 0;
  let slots = 0;
  let free = 0;
  for (const [at, word] of able.entries()) {
    for (let bits = word, index = at * 32; bits !== 0; bits >>>= 1, index += 1) {
      if ((bits & 1) === 0 || !hasBit(columns.willing, index)) continue;
      ready += 1;
      slots += columns.max[index] as number;
      free += columns.free[index] as number;
    }
  }
  return { source, target, nodes: countBits(able), ready, slots, free };
}

/** The languages that nodes name. Nodes that translate any language count for those. */
export function* namedLanguages(
  fleet: FleetView,
): Generator<void, { sources: Language[]; targets: Language[]; isTruncated: boolean }> {
  const nodesOf = new Map<NodeProfile, number>();
  for (const [index, nodeId] of fleet.table.columns.ids.entries()) {
    if (index > 0 && index % NODES_PER_SLICE === 0) yield;
    const profile = nodeId === undefined ? undefined : fleet.profile(nodeId);
    if (profile !== undefined) nodesOf.set(profile, (nodesOf.get(profile) ?? 0) + 1);
  }
  const sources = new Map<Language, number>();
  const targets = new Map<Language, number>();
  let done = 0;
  for (const [{ nmt, asr, tts }, nodes] of nodesOf) {
    if (++done % CELLS_PER_SLICE === 0) yield;
    const count = (languages: Map<Language, number>, set: LanguageSet): void => {
      if (set !== ANY) for (const each of set) languages.set(each, (languages.get(each) ?? 0) + nodes);
    };
    count(sources, nmt.sources === ANY ? asr : nmt.sources);
    count(targets, nmt.targets === ANY ? tts : nmt.targets);
    count(sources, [...new Set(nmt.pairs.map(({ source }) => source))]);
    count(targets, [...new Set(nmt.pairs.map(({ target }) => target))]);
  }
  return {
    sources: mostNamed(sources),
    targets: mostNamed(targets),
    isTruncated: sources.size > MAX_LANGUAGES || targets.size > MAX_LANGUAGES,
  };
}

const mostNamed = (languages: ReadonlyMap<Language, number>): Language[] =>
  [...languages]
    .sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1))
    .slice(0, MAX_LANGUAGES)
    .map(([language]) => language)
    .sort();
