/** Simulation: which second attempts an instance sends, from its log. */
import type { Log } from '../../../scheduler/dist/ports/log.js';
import { HEDGE_STARTS } from '../../../scheduler/dist/runtime/attempts/hedging.js';
import type { Recorder } from '../history.ts';

export const watchHedges = (log: Log, { record }: Recorder, instance: string): Log => ({
  ...log,
  info(fields, message) {
    const { job_id: job, node_id: node, attempt_id: attempt } = fields;
    if (message === HEDGE_STARTS && job !== undefined && node !== undefined && attempt !== undefined)
      record({ kind: 'hedged', instance, node: `${node}`, job: `${job}`, attempt: Number(attempt) });
    log.info(fields, message);
  },
});
