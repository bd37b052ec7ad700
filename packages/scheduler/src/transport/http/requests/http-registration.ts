/** What an HTTP node says of itself, in the registry's words. Pure. */
import type { HttpNodeHeartbeat, HttpNodeRegister } from '@lingua/protocol';
import type {
  CapabilityReport,
  ReportedLanguages,
  ReportedTranslation,
  ResourceReport,
} from '../../../domain/capability-report.ts';
import type { Heartbeat, Registration } from '../../../management/node-registry.ts';
import { given } from '../../wire/given.ts';
import { healthWord } from '../../wire/health-word.ts';

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
    // Here what is left out is not there; "undeclared" means anything only to nodes that cannot declare.
    report: { models: [], ...abilities({ semantic: [], tts: [], ...namedLanguages(body) }) },
    slots: body.max_concurrent_jobs,
    health: healthWord(body.health),
    runningJobIds: body.running_job_ids,
    region: body.region,
    zone: body.zone,
  });
}

/** `known`: the languages it named so far; those it leaves out now stay as they were. */
export function readHeartbeat(body: HttpNodeHeartbeat, known: ReportedLanguages | undefined): Heartbeat {
  const named = namedLanguages(body);
  return given({
    nodeId: body.node_id,
    resources: resourcesOf(body),
    report: Object.keys(named).length === 0 ? undefined : abilities({ ...known, ...named }),
    slots: body.max_concurrent_jobs,
    health: healthWord(body.health),
    runningJobIds: body.running_job_ids,
  });
}

const namedLanguages = ({ semantic_langs, tts_langs, nmt_pairs }: HttpNodeHeartbeat): ReportedLanguages =>
  given({ semantic: semantic_langs, tts: tts_langs, translations: nmt_pairs && [translationOf(nmt_pairs)] });

const translationOf = (pairs: readonly (readonly [string, string])[]): ReportedTranslation => ({
  languages: [],
  rule: 'specific_pairs',
  blockedPairs: [],
  supportedPairs: pairs.map(([source, target]) => ({ source, target })),
});

/** Whatever has languages is ready; recognition is assumed. Without pairs, translation is among the semantic languages. */
function abilities(languages: ReportedLanguages): Pick<CapabilityReport, 'types' | 'languages'> {
  const { semantic, tts, translations } = languages;
  const isTranslating =
    translations === undefined
      ? isSome(semantic)
      : translations.some(({ rule, supportedPairs }) => rule !== 'specific_pairs' || isSome(supportedPairs));
  return {
    types: [
      { type: 'asr', isReady: true },
      { type: 'semantic', isReady: isSome(semantic) },
      { type: 'nmt', isReady: isTranslating },
      { type: 'tts', isReady: isSome(tts) },
    ],
    languages,
  };
}

/** Undeclared: any. */
const isSome = (list: readonly unknown[] | undefined): boolean => list === undefined || list.length > 0;

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
