/** Cold path: the dispatch of a chain of a plan. Pure. */
import type { DispatchRequest } from '../../domain/dispatch.ts';
import type { AudioSource, JobSpec } from '../../domain/job-spec.ts';
import { type PlanRequest, requestIdOf } from '../../domain/plan.ts';
import type { Require } from '../../domain/requirements.ts';
import type { Chain } from '../../domain/stage.ts';
import { needOfChain, pipelineOf, productOf } from './chain-job.ts';
import type { ChainText } from './chain-jobs.ts';

const NO_AUDIO: AudioSource = { kind: 'none' };

/** `text`: the input; absent: the audio of the request. */
export function chainRequest(
  chain: Chain,
  request: PlanRequest,
  text: ChainText | undefined,
  require: Require,
): DispatchRequest {
  const { input } = request;
  const product = productOf(chain);
  const audio = text === undefined && input.kind === 'audio' ? input.source : NO_AUDIO;
  const spec: JobSpec = {
    ...request.spec,
    sourceLanguage: text?.language ?? chain.source,
    targetLanguage: chain.target,
    pipeline: pipelineOf(chain.stages),
    stages: chain.stages,
    inputText: text?.text,
    sourceText: text?.sourceText === text?.text ? undefined : text?.sourceText,
    audio,
  };
  return {
    tenantId: request.tenantId,
    sessionId: request.sessionId,
    requestId: requestIdOf(request.name, product),
    fingerprint: `${request.fingerprint}/${product}`,
    need: needOfChain(chain, request, require, audio.kind),
    spec,
    waitMs: request.waitMs,
    deadlineAt: request.deadlineAt,
    isDependant: text !== undefined && input.kind === 'audio',
    ...(audio.kind === 'held' && input.kind === 'audio' && { audio: input.audio }),
    ...(request.priority !== undefined && { priority: request.priority }),
  };
}
