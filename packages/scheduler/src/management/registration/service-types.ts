/** Cold path: the service types of a node, and which of them are ready, from either generation of the protocol. Pure. */
import type { CapabilityReport } from '../../domain/capability-report.ts';
import { ANY } from '../../domain/language.ts';
import type { CoreServices } from '../../domain/requirements.ts';

export interface ServiceTypes {
  readonly installedTypes: typeof ANY | readonly string[];
  readonly readyTypes: typeof ANY | readonly string[];
  readonly installedServices: readonly string[];
  readonly readyServices: readonly string[];
}

/** Type of a service that cannot be classified: it counts as running, and no job needs it. */
const OTHER = 'other';
const SEMANTIC = 'semantic';
const STAGES: ReadonlySet<string> = new Set(['asr', 'nmt', 'tts']);

/** The last resort for ids of the first generation, which has no types. The order matters: "voice" is the least specific. */
const NAMED: readonly (readonly [RegExp, string])[] = [
  [/semantic|repair/, SEMANTIC],
  [/nmt|m2m|nllb|marian|opus-mt|translat/, 'nmt'],
  [/asr|whisper|paraformer|node-inference/, 'asr'],
  [/tts|piper|vits|synth/, 'tts'],
  [/tone|speaker|voice/, 'tone'],
];

export function understandTypes(report: CapabilityReport, core: CoreServices): ServiceTypes {
  const services = understandServices(report);
  if (report.types !== undefined) return { ...services, ...secondGeneration(report, core) };
  if (report.serviceStates === undefined && report.services === undefined) {
    return { ...services, ...fromModels(report) };
  }
  const typeOf = createTyper(report, core);
  const typesOf = (ids: readonly string[]) => new Set(ids.map(typeOf));
  const installed = typesOf(services.installedServices);
  const ready = typesOf(services.readyServices);
  const namesTypes = report.services?.some((service) => service.type !== undefined) ?? false;
  if (namesTypes) return { ...services, ...withSemanticByLanguages(installed, ready, report) };
  return { ...services, ...withUndeclaredSemantic(installed, ready) };
}

function secondGeneration(report: CapabilityReport, core: CoreServices) {
  const named = (report.types ?? []).map(({ type, isReady }) => ({ type: fold(type), isReady }));
  const ready = new Set(named.filter(({ isReady }) => isReady).map(({ type }) => type));
  // The list names every type, including those that the node lacks; its services show which it has.
  const installed =
    report.services === undefined
      ? new Set(named.map(({ type }) => type))
      : new Set(report.services.map(({ serviceId }) => serviceId).map(createTyper(report, core)));
  for (const type of ready) installed.add(type);
  if (named.some(({ type }) => type === SEMANTIC)) return listed(installed, ready);
  return withSemanticByLanguages(installed, ready, report);
}

/** No semantic entry: the node's semantic languages decide. */
function withSemanticByLanguages(installed: Set<string>, ready: Set<string>, report: CapabilityReport) {
  const { isSemanticCoreReady, semantic } = report.languages ?? {};
  if (isSemanticCoreReady === true || (semantic !== undefined && semantic.length > 0)) {
    installed.add(SEMANTIC);
    ready.add(SEMANTIC);
  }
  return listed(installed, ready);
}

/** The first generation has no semantic type, so a missing entry is no refusal. It does not show that the service runs either. */
function withUndeclaredSemantic(installed: Set<string>, ready: Set<string>) {
  if (!installed.has(SEMANTIC)) {
    if (installed.size > 0) installed.add(SEMANTIC);
    if (ready.size > 0) ready.add(SEMANTIC);
  }
  return listed(installed, ready);
}

function fromModels(report: CapabilityReport) {
  const stages = report.models.filter(({ kind }) => STAGES.has(fold(kind)));
  if (stages.length === 0) return { installedTypes: ANY, readyTypes: ANY } as const;
  const kinds = (models: typeof stages) => new Set(models.map(({ kind }) => fold(kind)));
  return withUndeclaredSemantic(kinds(stages), kinds(stages.filter(({ isEnabled }) => isEnabled)));
}

function understandServices(report: CapabilityReport) {
  const installed = new Set<string>();
  const ready = new Set<string>();
  for (const { serviceId, status } of report.services ?? []) {
    installed.add(serviceId);
    // A service without a state counts as ready, unless there is a state map: then the map decides.
    const isRunning = status === undefined ? report.serviceStates === undefined : fold(status) === 'running';
    if (isRunning) ready.add(serviceId);
  }
  for (const [serviceId, state] of report.serviceStates ?? []) {
    if (fold(state) !== 'not_installed') installed.add(serviceId);
    if (fold(state) === 'ready') ready.add(serviceId);
    else ready.delete(serviceId);
  }
  return { installedServices: [...installed].sort(), readyServices: [...ready].sort() };
}

/** The type of a service id, whether the node has the service or not. Undefined: unknown. */
export function knownTyper(
  report: CapabilityReport,
  core: CoreServices,
): (serviceId: string) => string | undefined {
  const typeOf = createTyper(report, core);
  return (serviceId) => {
    const type = typeOf(serviceId);
    return type === OTHER ? undefined : type;
  };
}

function createTyper(report: CapabilityReport, core: CoreServices): (serviceId: string) => string {
  const types = new Map<string, string>();
  // Later entries win: the type in the service's own entry, then the operator's configuration, then its model.
  for (const { modelId, kind } of report.models) if (fold(kind) !== OTHER) types.set(modelId, fold(kind));
  for (const stage of ['asr', 'nmt', 'tts'] as const) {
    const id = core[stage];
    if (id !== undefined && id !== '') types.set(id, stage);
  }
  for (const { serviceId, type } of report.services ?? []) {
    if (type !== undefined) types.set(serviceId, fold(type));
  }
  return (serviceId) => types.get(serviceId) ?? typeByName(serviceId.toLowerCase());
}

const typeByName = (name: string): string => NAMED.find(([pattern]) => pattern.test(name))?.[1] ?? OTHER;

const fold = (word: string): string => word.trim().toLowerCase();

const listed = (installed: Set<string>, ready: Set<string>) => ({
  installedTypes: [...installed].sort(),
  readyTypes: [...ready].sort(),
});
