/** Dispatches over HTTP, continuously and on all instances in turn, with the outcome of each. */
import type { JobView } from '@lingua/protocol';
import { eventually } from '../../support/eventually.ts';
import type { RunningApp } from '../support/start-app.ts';

export interface Refused {
  readonly at: number;
  readonly status: number;
  readonly error: string;
}

export interface Load {
  /** The accepted jobs. */
  readonly accepted: readonly string[];
  readonly refused: readonly Refused[];
  /** Stops; resolves when no request is under way. */
  stop(): Promise<void>;
  /** The outcome of every accepted job, read from `reader`. */
  outcomes(reader: Pick<RunningApp, 'job'>): Promise<readonly JobView[]>;
}

let loads = 0;

/** `hands`: concurrent requests. */
export function startLoad(
  instances: () => readonly Pick<RunningApp, 'tryDispatch'>[],
  { hands = 8, pauseMs = 0 }: { readonly hands?: number; readonly pauseMs?: number } = {},
): Load {
  loads += 1;
  const name = `load-${loads}`;
  const accepted: string[] = [];
  const refused: Refused[] = [];
  let isStopped = false;
  let sent = 0;

  async function one(): Promise<void> {
    const all = instances();
    const instance = all[sent % all.length];
    sent += 1;
    const askedAt = performance.now();
    try {
      const { status, body } = (await instance?.tryDispatch({ request_id: `${name}-${sent}` })) ?? {};
      if (status === 200 && body !== undefined) accepted.push(body.job_id);
      else refused.push({ at: performance.now(), status: status ?? 0, error: String(body?.error) });
    } catch (fault) {
      refused.push({ at: performance.now(), status: 0, error: String(fault) });
    }
    const leftMs = pauseMs - (performance.now() - askedAt);
    if (leftMs > 0) await new Promise((resolve) => setTimeout(resolve, leftMs));
  }

  const working = Array.from({ length: hands }, async () => {
    while (!isStopped) await one();
  });

  return {
    accepted,
    refused,
    async stop() {
      isStopped = true;
      await Promise.all(working);
    },
    outcomes: (reader) =>
      Promise.all(
        accepted.map((jobId) =>
          eventually(async () => {
            const job = await reader.job(jobId);
            if (job.state === 'RELEASED') return job;
            throw new Error(`job ${jobId} has no outcome: ${JSON.stringify(job)}`);
          }),
        ),
      ),
  };
}
