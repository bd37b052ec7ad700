/** Cold path: turns a node's report, in either generation of the protocol, into the profile that selection reads. Pure. */
import type { CapabilityReport, NodeTraits } from '../../domain/capability-report.ts';
import { featuresProvidedBy } from '../../domain/features.ts';
import { ANY } from '../../domain/language.ts';
import { NODE_EXTENSIONS, type NodeProfile } from '../../domain/profile.ts';
import type { CoreServices } from '../../domain/requirements.ts';
import { type ServiceTypes, understandTypes } from './service-types.ts';
import { understandLanguages } from './stage-languages.ts';

export interface ProfileRules {
  /** A node that reports no languages counts as having all of them. */
  readonly assumeAnyLanguage: boolean;
  readonly coreServices: CoreServices;
}

/** `understand` with fixed rules. */
export type Understand = (report: CapabilityReport, traits: NodeTraits) => NodeProfile;

/** Lists are sorted and without repeats, so that equal profiles have equal text and can be shared. */
export function understand(report: CapabilityReport, traits: NodeTraits, rules: ProfileRules): NodeProfile {
  const types = understandTypes(report, rules.coreServices);
  const nmt = {
    isInstalled: types.installedTypes === ANY || types.installedTypes.includes('nmt'),
    isReady: types.readyTypes === ANY || types.readyTypes.includes('nmt'),
  };
  return {
    ...types,
    ...understandLanguages(report, nmt, rules.assumeAnyLanguage),
    features: offeredFeatures(report, traits, types),
    hasGpu: traits.gpuCount > 0,
    ...(traits.privateTo !== undefined && { privateTo: traits.privateTo }),
    ...(traits.binding !== undefined && { binding: traits.binding }),
    supports: NODE_EXTENSIONS.filter((extension) => traits.supports?.includes(extension)),
    isLegacy: traits.supports === undefined,
  };
}

/** The types that the node reports, and the types of its services and models. */
function offeredFeatures(
  report: CapabilityReport,
  traits: NodeTraits,
  { installedServices, readyServices }: Pick<ServiceTypes, 'installedServices' | 'readyServices'>,
): string[] {
  const isEnabled = (id: string) => report.models.some((model) => model.modelId === id && model.isEnabled);
  // If the node reports a service of that name, the state of the service decides, not the installed model.
  const isService = (id: string) => installedServices.includes(id) || report.serviceStates?.has(id) === true;
  const provided = featuresProvidedBy((id) => (isService(id) ? readyServices.includes(id) : isEnabled(id)));
  return [...new Set([...traits.features, ...provided])].sort();
}
