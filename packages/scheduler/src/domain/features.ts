/** Vocabulary: the optional analyses of a session, what each depends on, and which services provide it. Pure. */

/** What a feature flag stands for. */
export interface FeatureModule {
  /** The name that nodes use for it. */
  readonly module: string;
  /** Other features, or types of services. */
  readonly dependsOn: readonly string[];
  /** Services and models that do it. */
  readonly providers: readonly string[];
}

export type FeatureTable = ReadonlyMap<string, FeatureModule>;

/** A map and not an object, because clients and nodes choose the flags. */
export const FEATURES: FeatureTable = new Map<string, FeatureModule>([
  ['emotion_detection', { module: 'emotion_detection', dependsOn: ['asr'], providers: ['emotion-xlm-r'] }],
  [
    'speaker_identification',
    { module: 'speaker_identification', dependsOn: [], providers: ['speaker-id-ecapa'] },
  ],
  [
    'voice_style_detection',
    { module: 'voice_cloning', dependsOn: ['speaker_identification'], providers: ['vc-model-v1'] },
  ],
  ['speech_rate_detection', { module: 'speech_rate_detection', dependsOn: ['asr'], providers: ['sr-d-v1'] }],
  [
    'speech_rate_control',
    {
      module: 'speech_rate_control',
      dependsOn: ['speech_rate_detection', 'tts'],
      providers: ['tts-vocoder-v1'],
    },
  ],
  [
    'persona_adaptation',
    { module: 'persona_adaptation', dependsOn: ['asr'], providers: ['persona-style-transformer'] },
  ],
]);

/** Sorted and without repeats, so that equal requests look the same. */
export interface ExpandedFeatures {
  readonly features: readonly string[];
  /** Service types they depend on. */
  readonly types: readonly string[];
}

/** Including everything the features depend on, directly or indirectly. Unknown flags add nothing. */
export function expandFeatures(flags: Iterable<string>, table: FeatureTable = FEATURES): ExpandedFeatures {
  const features = new Set<string>();
  const types = new Set<string>();

  /** A feature is entered once, so a circular table ends, too. */
  function add(name: string): void {
    const known = table.get(name);
    if (known === undefined) {
      types.add(name);
    } else if (!features.has(name)) {
      features.add(name);
      for (const part of known.dependsOn) add(part);
    }
  }

  for (const flag of flags) if (table.has(flag)) add(flag);
  return { features: [...features].sort(), types: [...types].sort() };
}

/** The features that one of these services or models provides. */
export function featuresProvidedBy(isThere: (id: string) => boolean): string[] {
  return [...FEATURES].filter(([, { providers }]) => providers.some(isThere)).map(([flag]) => flag);
}
