/** Cold path: turns what a node says of itself, in either generation, into the one shape selection reads. Pure. */
import type { CapabilityReport, NodeTraits } from '../../domain/capability-report.ts';
import { featuresProvidedBy } from '../../domain/features.ts';
import { ANY } from '../../domain/language.ts';
import { NODE_EXTENSIONS, type NodeProfile } from '../../domain/profile.ts';
import type { CoreServices } from '../../domain/requirements.ts';
import { type ServiceTypes, understandTypes } from './service-types.ts';
import { understandLanguages } from './stage-languages.ts';

export interface ProfileRules {
  /** A node that says nothing of languages is taken to have them all. */
  readonly assumeAnyLanguage: boolean;
  readonly coreServices: CoreServices;
}

/** `understand` under rules that are settled. */
export type Understand = (report: CapabilityReport, traits: NodeTraits) => NodeProfile;

/** Lists come out sorted and without repeats, so that equal profiles have equal text and can be shared. */
export function understand(report: CapabilityReport, traits: NodeTraits, rules: ProfileRules): NodeProfile {
  const types = understandTypes(report, rules.coreServices);
  const isNmtReady = types.readyTypes === ANY || types.readyTypes.includes('nmt');
  return {
    ...types,
    ...understandLanguages(report, isNmtReady, rules.assumeAnyLanguage),
    features: offeredFeatures(report, traits, types),
    hasGpu: traits.gpuCount > 0,
    acceptsPublicJobs: traits.acceptsPublicJobs,
    supports: NODE_EXTENSIONS.filter((extension) => traits.supports?.includes(extension)),
    isLegacy: traits.supports === undefined,
  };
}

/** What the node says it does, and what one of its services or models is known to do. */
function offeredFeatures(
  report: CapabilityReport,
  traits: NodeTraits,
  { installedServices, readyServices }: Pick<ServiceTypes, 'installedServices' | 'readyServices'>,
): string[] {
  const isEnabled = (id: string) => report.models.some((model) => model.modelId === id && model.isEnabled);
  // Where a service of that name is spoken of, its state decides and not that the model is on the disk.
  const isService = (id: string) => installedServices.includes(id) || report.serviceStates?.has(id) === true;
  const provided = featuresProvidedBy((id) => (isService(id) ? readyServices.includes(id) : isEnabled(id)));
  return [...new Set([...traits.features, ...provided])].sort();
}
