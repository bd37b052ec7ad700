/** Hot path: the names of the facts a node may have. Written by the fleet, read by compiled needs. */
import type { TenantId } from '../../domain/ids.ts';
import type { Language } from '../../domain/language.ts';
import type { Place, Region } from '../../domain/region.ts';

export type Stage = 'asr' | 'semantic' | 'tts';

/** Facts that have bitmaps from the start, because they change all the time. */
export const STATUS_FACTS = [
  'alive',
  'ready',
  'offline',
  'connected',
  'fresh',
  'calm',
  'cordoned',
  'ejected',
  'free',
] as const;

/**
 * A wildcard has its own prefix (`asr*`, not `asr:*`), so that no name sent by a node or a client can equal it.
 */
export const factKey = {
  supportsLanguage: (stage: Stage, language: Language) => `${stage}:${language}`,
  supportsAnyLanguage: (stage: Stage) => `${stage}*`,
  nmtFrom: (source: Language) => `from:${source}`,
  nmtFromAny: 'from*',
  nmtTo: (target: Language) => `to:${target}`,
  nmtToAny: 'to*',
  nmtPair: (source: Language, target: Language) => `pair:${source}>${target}`,
  nmtBlocked: (source: Language, target: Language) => `blocked:${source}>${target}`,
  /** At least one source can be translated into the target. */
  nmtInto: (target: Language) => `into:${target}`,
  nmtIntoAny: 'into*',
  /** The exceptions to `nmtIntoAny`. */
  nmtNotInto: (target: Language) => `not_into:${target}`,
  hasType: (type: string) => `type:${type}`,
  hasAnyType: 'type*',
  readyType: (type: string) => `ready_type:${type}`,
  readyAnyType: 'ready_type*',
  hasService: (serviceId: string) => `service:${serviceId}`,
  readyService: (serviceId: string) => `ready_service:${serviceId}`,
  feature: (flag: string) => `feature:${flag}`,
  marked: (serviceId: string) => `marked:${serviceId}`,
  markedType: (type: string) => `marked_type:${type}`,
  supports: (extension: string) => `supports:${extension}`,
  /** Takes the jobs of one tenant only. */
  private: 'private*',
  privateTo: (tenantId: TenantId) => `private:${tenantId}`,
  inRegion: (region: Region) => `region:${region}`,
  /** Zones of different regions may have the same name. */
  inZone: ({ region = '', zone = '' }: Place) => `zone:${region.length}.${region}${zone}`,
  gpu: 'gpu',
  legacy: 'legacy',
} as const;
