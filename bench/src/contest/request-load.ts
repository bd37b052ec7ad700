/** Requests over HTTP that arrive at their times, on every instance in turn. */
import { arrivalTimes } from '../open-loop/arrivals.ts';
import { createChance } from '../open-loop/chance.ts';
import { createHistogram } from '../open-loop/histogram.ts';
import { createJobMix, type Job } from '../open-loop/job-mix.ts';
import { openLoop } from '../open-loop/open-loop.ts';
import type { Driven, RoundOrder } from './contestant.ts';
import { createHttpLanes } from './http-lanes.ts';
import type { LoadStart } from './load-process.ts';

/** The senders, as the process of the load uses them. */
export interface Load {
  connect(): Promise<void>;
  open(order: RoundOrder): Promise<Driven>;
  /** A node has the job of this session. */
  assigned(sessionId: string, utteranceIndex: number): void;
  /** Every client has received what it waited for. */
  isQuiet(): boolean;
}

const PATH = '/v1/dispatch/f2f';
/** No room, or too many at once: expected of a server that is overloaded. */
const REFUSALS = new Set([429, 503]);

const bodyOf = (sessionId: string, job: Job, waitMs: number): string =>
  JSON.stringify({
    session_id: sessionId,
    src_lang: job.source,
    tgt_lang: job.target,
    audio_ref: 'blob://audio/1',
    tenant_id: job.tenant,
    wait_ms: waitMs,
    options: { require_tts: true, priority: job.priority },
  });

export function createRequests({ scenario, ports }: LoadStart): Load {
  const lanes = ports.map((port) => createHttpLanes(port, PATH));
  const dueAts = new Map<string, number>();
  let dispatch = createHistogram();
  let count = 0;
  return {
    connect: async () => {},
    async open({ rate, seconds, seed }) {
      dispatch = createHistogram();
      const answer = createHistogram();
      const nextJob = createJobMix(scenario, createChance(seed + 1));
      let [done, refused, reason] = [0, 0, ''];
      dueAts.clear();
      const times = arrivalTimes({ ...scenario.arrivals, rate }, seconds * 1_000, createChance(seed));
      await openLoop(times, async (dueAt) => {
        const sessionId = `s-bench-${count}`;
        const lane = lanes[count++ % lanes.length];
        dueAts.set(sessionId, dueAt);
        const got = await lane?.post(bodyOf(sessionId, nextJob(), scenario.waitMs));
        answer.record(performance.now() - dueAt);
        if (got?.status === 200) done += 1;
        else if (REFUSALS.has(got?.status ?? 0)) {
          refused += 1;
          reason = got?.body ?? '';
        } else throw new Error(`a request was answered ${got?.status}: ${got?.body}`);
      });
      if (done === 0 && refused > 0) throw new Error(`none of ${refused} requests was taken: ${reason}`);
      return { dispatch: dispatch.counts(), answer: answer.counts(), done, refused };
    },
    assigned(sessionId) {
      const dueAt = dueAts.get(sessionId);
      if (dueAt !== undefined) dispatch.record(performance.now() - dueAt);
    },
    isQuiet: () => true,
  };
}
