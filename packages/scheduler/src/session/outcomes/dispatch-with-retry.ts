/** Hot path: dispatches utterances, and tries again while the store is down (I7). An utterance waits for a while before it is refused. */
import type { DispatchOutcome, DispatchRequest } from '../../domain/dispatch.ts';
import type { AudioStore } from '../../ports/audio-store.ts';
import type { Chance } from '../../ports/chance.ts';
import type { Cancel, Clock } from '../../ports/clock.ts';
import type { Utterance } from '../session.ts';
import type { JobDispatcher } from '../session-service.ts';
import { isAdmitted } from '../utterance-state.ts';

export interface DispatchWithRetry {
  dispatch(utterance: Utterance, request: DispatchRequest): Promise<DispatchOutcome>;
  /** Ends all waits; no further try is made. */
  stop(): void;
}

const RETRY_DELAY_MS = 250;

export function createDispatchWithRetry(deps: {
  readonly jobs: Pick<JobDispatcher, 'dispatch'>;
  readonly clock: Clock;
  readonly chance: Chance;
  readonly audio: Pick<AudioStore, 'claim' | 'unclaim'>;
  readonly retryForMs: number;
}): DispatchWithRetry {
  const { jobs, clock, audio } = deps;
  const waiting = new Set<() => void>();
  let isStopped = false;

  /** Audio that was cut differently when it was sent again conflicts with its first request: it gets a job without a request id. */
  async function dispatchOnce(utterance: Utterance, request: DispatchRequest): Promise<DispatchOutcome> {
    const wasAdmitted = isAdmitted(utterance);
    const outcome = await jobs.dispatch(request);
    const isConflict = outcome.kind === 'refused' && outcome.code === 'IDEMPOTENCY_CONFLICT';
    if (!isConflict || wasAdmitted || utterance.firstSeq === undefined || isOver(utterance)) return outcome;
    // The job id is derived from the request, so it is left out as well.
    const { requestId: _requestId, fingerprint: _fingerprint, jobId: _jobId, ...unbound } = request;
    return jobs.dispatch(unbound);
  }

  function pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const end = () => {
        cancel();
        waiting.delete(end);
        resolve();
      };
      const cancel: Cancel = clock.after(ms, end);
      waiting.add(end);
    });
  }

  /** Its audio stays counted during the wait. False: the audio store has no space for it. */
  async function waitHoldingAudio({ tenantId, audio: held }: DispatchRequest, ms: number): Promise<boolean> {
    const bytes = held?.length ?? 0;
    if (bytes > 0 && audio.claim(tenantId, bytes) !== 'claimed') return false;
    await pause(ms);
    if (bytes > 0) audio.unclaim(tenantId, bytes);
    return true;
  }

  const isOver = ({ isSettled, watch }: Utterance): boolean => isStopped || isSettled || watch !== 'watched';

  return {
    async dispatch(utterance, request) {
      const until = clock.now() + deps.retryForMs;
      for (let attempt = request; ; ) {
        const outcome = await dispatchOnce(utterance, attempt);
        const isDown = outcome.kind === 'refused' && outcome.code === 'SCHEDULER_DEPENDENCY_DOWN';
        const leftMs = until - clock.now();
        if (!isDown || leftMs <= 0 || isOver(utterance)) return outcome;
        const delayMs = Math.min(leftMs, RETRY_DELAY_MS * (0.5 + deps.chance()));
        const hasSpace = await waitHoldingAudio(request, delayMs);
        if (!hasSpace || isOver(utterance)) return outcome;
        // A new job id for each try: if an earlier try was recorded after all, it is withdrawn, and the withdrawal must not hit the next one.
        const { jobId: _jobId, ...unnamed } = request;
        attempt = { ...unnamed, waitMs: Math.min(request.waitMs, Math.max(0, until - clock.now())) };
      }
    },
    stop() {
      isStopped = true;
      for (const end of [...waiting]) end();
    },
  };
}
