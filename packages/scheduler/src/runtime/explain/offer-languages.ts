/** Cold path: into which languages speech can be translated now, by the planner that would serve it. */
import type { TenantId } from '../../domain/ids.ts';
import type { Language } from '../../domain/language.ts';
import type { FleetView } from '../fleet/fleet-view.ts';
import type { FleetPlanner } from '../stages/fleet-plan.ts';
import { namedLanguages } from './read-language-matrix.ts';

export interface OfferedLanguage {
  readonly language: Language;
  /** Otherwise only its text. */
  readonly hasVoice: boolean;
}

/** Some nodes at a time (I6). */
export type OfferLanguages = (
  tenantId: TenantId,
  source: Language,
) => Generator<void, readonly OfferedLanguage[]>;

export function createLanguageOffer(deps: {
  readonly fleet: FleetView;
  readonly planOf: FleetPlanner;
}): OfferLanguages {
  const { fleet, planOf } = deps;
  return function* offer(tenantId, source) {
    const { targets: named } = yield* namedLanguages(fleet);
    const languages = [...new Set([...named, source])].sort();
    const { targets } = planOf({
      tenantId,
      sessionId: tenantId,
      need: { needsPublicNode: true },
      input: { kind: 'audio', source: { kind: 'none' }, audio: undefined },
      source,
      wanted: languages.map((language) => ({ language, isVoiceWanted: true })),
    });
    return targets.flatMap(({ language, missing }) =>
      missing === undefined || missing === 'voice' ? [{ language, hasVoice: missing === undefined }] : [],
    );
  };
}
