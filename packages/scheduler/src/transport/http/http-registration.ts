/** What an HTTP node says of itself, in the registry's words. Pure. */
import type { HttpNodeHeartbeat, HttpNodeRegister } from '@lingua/protocol';
import type { CapabilityReport, ResourceReport } from '../../domain/capability-report.ts';
import { ANY, type Direction, foldLanguage, foldLanguages, type LanguageSet } from '../../domain/language.ts';
import { type NmtAbility, type NodeProfile, translates } from '../../domain/profile.ts';
import type { Heartbeat, Registration } from '../../management/node-registry.ts';
import { given } from '../wire/given.ts';
import { healthWord } from '../wire/health-word.ts';

/** The nodes of the HTTP story acknowledge their jobs and fetch audio; one that does neither says so by an empty list. */
const SUPPORTS: readonly string[] = ['job_ack', 'audio_ref'];

export function readRegistration(body: HttpNodeRegister, credential: string): Registration {
  return given({
    nodeId: body.node_id,
    credential,
    channel: body.endpoint === undefined ? ('mailbox' as const) : ('endpoint' as const),
    endpoint: body.endpoint,
    traits: {
      features: [],
      // It does not say, and what is not known is not held against a node.
      gpuCount: 1,
      acceptsPublicJobs: true,
      supports: body.supports ?? SUPPORTS,
    },
    report: reportOf({
      semantic: body.semantic_langs,
      tts: body.tts_langs,
      pairs: body.nmt_pairs?.map(directionOf),
    }),
    slots: body.max_concurrent_jobs,
    health: healthWord(body.health),
    runningJobIds: body.running_job_ids,
    region: body.region,
    zone: body.zone,
  });
}

/** `known`: what the node could do so far; the languages it leaves out stay as they were. */
export function readHeartbeat(body: HttpNodeHeartbeat, known: NodeProfile | undefined): Heartbeat {
  const { semantic_langs: semantic, tts_langs: tts, nmt_pairs: pairs } = body;
  const saysLanguages = semantic !== undefined || tts !== undefined || pairs !== undefined;
  return given({
    nodeId: body.node_id,
    resources: resourcesOf(body),
    report: saysLanguages
      ? reportOf({
          semantic: semantic ?? listed(known?.semantic),
          tts: tts ?? listed(known?.tts),
          pairs: pairs?.map(directionOf) ?? pairsOf(known?.nmt),
        })
      : undefined,
    slots: body.max_concurrent_jobs,
    health: healthWord(body.health),
    runningJobIds: body.running_job_ids,
  });
}

interface NamedLanguages {
  readonly semantic: readonly string[] | undefined;
  readonly tts: readonly string[] | undefined;
  /** Absent: all among the semantic languages. */
  readonly pairs: readonly Direction[] | undefined;
}

function reportOf({ semantic, tts, pairs }: NamedLanguages): CapabilityReport {
  const hasSemantic = isSome(semantic);
  return {
    models: [],
    types: [
      { type: 'asr', isReady: true },
      { type: 'semantic', isReady: hasSemantic },
      { type: 'nmt', isReady: pairs === undefined ? hasSemantic : pairs.length > 0 },
      { type: 'tts', isReady: isSome(tts) },
    ],
    languages: given({
      semantic: foldLanguages(semantic ?? []),
      tts: foldLanguages(tts ?? []),
      translations:
        pairs === undefined
          ? undefined
          : [
              {
                languages: foldLanguages(pairs.flatMap(({ source, target }) => [source, target])),
                rule: 'specific_pairs',
                blockedPairs: [],
                supportedPairs: pairs,
              },
            ],
    }),
  };
}

const isSome = (list: readonly string[] | undefined): boolean => list !== undefined && list.length > 0;

const directionOf = ([source, target]: readonly [string, string]): Direction => ({
  source: foldLanguage(source),
  target: foldLanguage(target),
});

const listed = (set: LanguageSet | undefined): readonly string[] | undefined =>
  set === ANY ? undefined : set;

function pairsOf(nmt: NmtAbility | undefined): readonly Direction[] | undefined {
  if (nmt === undefined || nmt.sources === ANY || nmt.targets === ANY) return undefined;
  const { targets } = nmt;
  const product = nmt.sources.flatMap((source) => targets.map((target) => ({ source, target })));
  return [...product.filter(({ source, target }) => translates(nmt, source, target)), ...nmt.pairs];
}

function resourcesOf(body: HttpNodeHeartbeat): ResourceReport {
  const { gpu, cpu, mem } = body.current_load ?? {};
  return given({
    cpuPercent: percentOf(cpu),
    gpuPercent: percentOf(gpu),
    memoryPercent: percentOf(mem),
    runningJobs: body.running_jobs ?? body.running_job_ids?.length ?? 0,
  });
}

/** Negative: unknown, as meters say it. */
const percentOf = (share: number | undefined): number | undefined =>
  share === undefined || share < 0 ? undefined : Math.min(share, 1) * 100;
