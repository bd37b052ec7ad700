/** Cold path: a chain of stages as an ordinary job: what it yields, what it needs of a node, and what it sends to it. Pure. */
import type { AudioSource, Pipeline } from '../../domain/job-spec.ts';
import { ANY, AUTO } from '../../domain/language.ts';
import type { Need } from '../../domain/need.ts';
import type { PlanRequest } from '../../domain/plan.ts';
import type { Require } from '../../domain/requirements.ts';
import type { Chain, Stage } from '../../domain/stage.ts';

/**
 * What a chain yields, not how: a repeated plan finds the job even if the fleet has changed and the chain would be cut differently. `caption`:
 * what was recognised, and its translation. `whole`: these and the voice. `spoken`: a translation and its voice, of text.
 */
export function productOf({ stages, input, target }: Omit<Chain, 'source'>): string {
  const has = (stage: Stage): boolean => stages.includes(stage);
  if (has('tts') && stages.length === 1) return `voice:${target}`;
  if (has('tts')) return input === 'audio' ? `whole:${target}` : `spoken:${target}`;
  if (has('nmt') && input === 'audio') return `caption:${target}`;
  if (has('nmt')) return `text:${target}`;
  return has('semantic') ? 'source' : 'asr';
}

/** Flags for nodes that do not read `stages`. */
export const pipelineOf = (stages: readonly Stage[]): Pipeline => ({
  use_asr: stages.includes('asr'),
  use_nmt: stages.includes('nmt'),
  use_tts: stages.includes('tts'),
  use_semantic: stages.includes('semantic'),
  use_tone: false,
});

/** A job that legacy nodes take, too: audio in, translated text out. */
export const isWholeJob = ({ stages, input }: Pick<Chain, 'stages' | 'input'>): boolean =>
  input === 'audio' && (['asr', 'semantic', 'nmt'] as const).every((stage) => stages.includes(stage));

/** `audio`: where the audio of the utterance is. */
export function needOfChain(
  chain: Chain,
  request: Pick<PlanRequest, 'tenantId' | 'sessionId' | 'need'>,
  require: Require,
  audio: AudioSource['kind'],
): Need {
  const { stages, input, source, target } = chain;
  const isSourceAuto = source === AUTO;
  // The nodes that get the speech have its analyses and the named services.
  const named = input === 'audio' ? request.need : NOTHING_NAMED;
  const { usesAsr, usesNmt, usesTts, services } = require({ pipeline: pipelineOf(stages) });
  return {
    tenantId: request.tenantId,
    sessionId: request.sessionId,
    directions: [{ source: isSourceAuto ? ANY : source, target }],
    isSourceAuto,
    usesAsr,
    usesNmt,
    usesTts,
    skipsSemantic: !stages.includes('semantic'),
    isTextInput: input === 'text',
    isPartial: !isWholeJob(chain),
    types: [...(named.types ?? [])].filter((type) => !(stages as readonly string[]).includes(type)),
    services: [...new Set([...services, ...(named.services ?? [])])].sort(),
    features: named.features,
    isAudioByReference: input === 'audio' && audio === 'reference',
    isPairUnknown: isSourceAuto,
    needsPublicNode: request.need.needsPublicNode,
    region: request.need.region,
    preferredPoolId: request.need.preferredPoolId,
    isStrict: false,
  };
}

const NOTHING_NAMED: PlanRequest['need'] = { needsPublicNode: false };
