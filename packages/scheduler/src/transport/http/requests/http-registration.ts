/** Translates registrations and heartbeats of HTTP nodes to the registry's types. Pure. */
import type { HttpNodeHeartbeat, HttpNodeRegister } from '@lingua/protocol';
import type {
  CapabilityReport,
  ReportedLanguages,
  ReportedTranslation,
  ResourceReport,
} from '../../../domain/capability-report.ts';
import { ownerOf } from '../../../domain/ids.ts';
import type { Heartbeat, Registration } from '../../../management/node-registry.ts';
import type { Principal } from '../../access/gate.ts';
import { omitUndefined } from '../../wire/omit-undefined.ts';

/** HTTP nodes acknowledge jobs and fetch audio by default; one that does neither sends an empty list. */
const SUPPORTS: readonly string[] = ['job_ack', 'audio_ref'];

export function readRegistration(
  body: HttpNodeRegister,
  { credential, tenantId }: Pick<Principal, 'credential' | 'tenantId'>,
): Registration {
  return omitUndefined({
    nodeId: body.node_id,
    credential,
    channel: body.endpoint === undefined ? ('mailbox' as const) : ('endpoint' as const),
    endpoint: body.endpoint,
    traits: omitUndefined({
      features: [],
      // HTTP nodes do not report GPUs, so the node must not be rejected for it.
      gpuCount: 1,
      privateTo: ownerOf(tenantId, body.accept_public_jobs ?? true),
      supports: body.supports ?? SUPPORTS,
    }),
    // An absent list means "none" here; only nodes that cannot declare languages count as undeclared.
    report: { models: [], ...toCapabilities({ semantic: [], tts: [], ...namedLanguages(body) }) },
    slots: body.max_concurrent_jobs,
    health: body.health,
    runningJobIds: body.running_job_ids,
    region: body.region,
    zone: body.zone,
  });
}

/** `known`: the languages of earlier reports, which apply where this one names none. */
export function readHeartbeat(body: HttpNodeHeartbeat, known: ReportedLanguages | undefined): Heartbeat {
  const named = namedLanguages(body);
  return omitUndefined({
    nodeId: body.node_id,
    resources: resourcesOf(body),
    report: Object.keys(named).length === 0 ? undefined : toCapabilities({ ...known, ...named }),
    slots: body.max_concurrent_jobs,
    health: body.health,
    runningJobIds: body.running_job_ids,
  });
}

const namedLanguages = ({ semantic_langs, tts_langs, nmt_pairs }: HttpNodeHeartbeat): ReportedLanguages =>
  omitUndefined({
    semantic: semantic_langs,
    tts: tts_langs,
    translations: nmt_pairs && [translationOf(nmt_pairs)],
  });

const translationOf = (pairs: readonly (readonly [string, string])[]): ReportedTranslation => ({
  languages: [],
  rule: 'specific_pairs',
  blockedPairs: [],
  supportedPairs: pairs.map(([source, target]) => ({ source, target })),
});

/** A service with languages is ready; recognition is assumed. Without pairs, translation covers the semantic languages. */
function toCapabilities(languages: ReportedLanguages): Pick<CapabilityReport, 'types' | 'languages'> {
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
  return omitUndefined({
    cpuPercent: percentOf(cpu),
    gpuPercent: percentOf(gpu),
    memoryPercent: percentOf(mem),
    runningJobs: body.running_jobs ?? body.running_job_ids?.length ?? 0,
  });
}

/** Meters report a negative number for unknown. */
const percentOf = (share: number | undefined): number | undefined =>
  share === undefined || share < 0 ? undefined : Math.min(share, 1) * 100;
