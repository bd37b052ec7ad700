/** Translates registrations and heartbeats of HTTP nodes to the registry's types. Pure. */
import { isDeepStrictEqual } from 'node:util';
import type { HttpNodeHeartbeat, HttpNodeRegister } from '@lingua/protocol';
import type {
  CapabilityReport,
  ReportedLanguages,
  ReportedTranslation,
  ResourceReport,
} from '../../../domain/capability-report.ts';
import { ownerOf } from '../../../domain/ids.ts';
import { ANY } from '../../../domain/language.ts';
import type { Heartbeat, Registration } from '../../../management/node-registry.ts';
import type { Principal } from '../../access/gate.ts';
import { toEfficiencies, toFeatures, toHardware, toReport } from '../../wire/node-report.ts';
import { omitUndefined } from '../../wire/omit-undefined.ts';

/** HTTP nodes acknowledge jobs and fetch audio by default; one that does neither sends an empty list. */
const SUPPORTS: readonly string[] = ['job_ack', 'audio_ref'];

export function readRegistration(
  body: HttpNodeRegister,
  { credential, tenantId, binding }: Pick<Principal, 'credential' | 'tenantId' | 'binding'>,
): Registration {
  const { hardware } = body;
  return omitUndefined({
    nodeId: body.node_id,
    credential,
    channel: body.endpoint === undefined ? ('mailbox' as const) : ('endpoint' as const),
    endpoint: body.endpoint,
    schemaVersion: body.capability_schema_version,
    version: body.version,
    platform: body.platform,
    hardware: hardware && toHardware(hardware),
    traits: omitUndefined({
      features: toFeatures(body.features_supported ?? {}),
      // A node that does not report its hardware must not be rejected for lack of a GPU.
      gpuCount: hardware === undefined ? 1 : (hardware.gpus?.length ?? 0),
      privateTo: ownerOf(tenantId, body.accept_public_jobs ?? true),
      binding,
      supports: body.supports ?? SUPPORTS,
    }),
    // An absent list means "none" here; only nodes that cannot declare languages count as undeclared.
    report: {
      models: [],
      ...reportOf(
        body.language_capabilities === undefined ? { semantic_langs: [], tts_langs: [], ...body } : body,
        {},
        true,
      ),
    },
    slots: body.max_concurrent_jobs,
    health: body.health,
    runningJobIds: body.running_job_ids,
    region: body.region,
    zone: body.zone,
  });
}

/** `known`: the earlier reports, whose languages apply where this one names none. */
export function readHeartbeat(body: HttpNodeHeartbeat, known: Known = {}): Heartbeat {
  // Types that were declared stay; types that followed from the languages follow the new ones.
  const isDerived = isDeepStrictEqual(known.types, typesOf(known.languages ?? {}));
  const report = reportOf(body, known.languages ?? {}, isDerived);
  return omitUndefined({
    nodeId: body.node_id,
    resources: resourcesOf(body),
    report: Object.keys(report).length === 0 ? undefined : report,
    slots: body.max_concurrent_jobs,
    health: body.health,
    leavingInMs: body.leaving_in_ms,
    runningJobIds: body.running_job_ids,
    efficiencies: toEfficiencies(body.processing_metrics),
  });
}

type Known = Pick<CapabilityReport, 'types'> & { readonly languages?: ReportedLanguages };

/** `known`: the languages that apply where the message names none. `isDerived`: types follow from languages unless they are declared. */
function reportOf(
  body: HttpNodeHeartbeat,
  known: ReportedLanguages,
  isDerived: boolean,
): Partial<CapabilityReport> {
  const declared = toReport(body);
  const named = { ...namedLanguages(body), ...declared.languages };
  const languages = { ...known, ...named };
  const saysTypes = [declared.types, declared.services, declared.serviceStates].some(
    (part) => part !== undefined,
  );
  if (Object.keys(named).length === 0) return declared;
  return { ...(isDerived && !saysTypes && { types: typesOf(languages) }), ...declared, languages };
}

const namedLanguages = ({
  asr_langs,
  semantic_langs,
  tts_langs,
  nmt_pairs,
}: HttpNodeHeartbeat): ReportedLanguages =>
  omitUndefined({
    asr: asr_langs,
    semantic: semantic_langs,
    tts: tts_langs,
    translations: nmt_pairs && [translationOf(nmt_pairs)],
  });

const translationOf = (pairs: NonNullable<HttpNodeHeartbeat['nmt_pairs']>): ReportedTranslation =>
  pairs === 'any_to_any'
    ? { languages: ANY, rule: 'any_to_any', blockedPairs: [], supportedPairs: [] }
    : {
        languages: [],
        rule: 'specific_pairs',
        blockedPairs: [],
        supportedPairs: pairs.map(([source, target]) => ({ source, target })),
      };

/** A service with languages is ready; recognition is assumed. Without pairs, translation covers the semantic languages. */
function typesOf({ semantic, isSemanticCoreReady, tts, translations, pairs }: ReportedLanguages) {
  const isTranslating =
    translations === undefined && pairs === undefined
      ? isSome(semantic)
      : (pairs?.length ?? 0) > 0 ||
        translations?.some(
          ({ rule, supportedPairs }) => rule !== 'specific_pairs' || isSome(supportedPairs),
        ) === true;
  return [
    { type: 'asr', isReady: true },
    { type: 'semantic', isReady: isSemanticCoreReady ?? isSome(semantic) },
    { type: 'nmt', isReady: isTranslating },
    { type: 'tts', isReady: isSome(tts) },
  ];
}

/** Undeclared: any. */
const isSome = (list: readonly unknown[] | undefined): boolean => list === undefined || list.length > 0;

function resourcesOf(body: HttpNodeHeartbeat): ResourceReport {
  const { gpu, gpu_mem, cpu, mem } = body.current_load ?? {};
  return omitUndefined({
    cpuPercent: percentOf(cpu),
    gpuPercent: percentOf(gpu),
    gpuMemoryPercent: percentOf(gpu_mem),
    memoryPercent: percentOf(mem),
    runningJobs: body.running_jobs ?? body.running_job_ids?.length ?? 0,
    gpuQueueLength: body.gpu_queue_length,
  });
}

/** Meters report a negative number for unknown. */
const percentOf = (share: number | undefined): number | undefined =>
  share === undefined || share < 0 ? undefined : Math.min(share, 1) * 100;
