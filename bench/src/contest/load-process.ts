/**
 * A process with everything outside of the servers of a scenario: nodes that work, and clients whose requests or utterances arrive
 * at their times. Both in one process, so that the time from due to job_assign is measured with one clock.
 */
import { later } from '../load/raw-session.ts';
import { createChance } from '../open-loop/chance.ts';
import { languagesOf } from '../open-loop/job-mix.ts';
import { serviceMs } from '../open-loop/service-time.ts';
import type { Scenario } from '../scenario/scenario.ts';
import { serve, startedWith } from './child.ts';
import type { RoundOrder } from './contestant.ts';
import { startRawNode } from './raw-node.ts';
import { createRequests } from './request-load.ts';
import { createUtterances } from './utterance-load.ts';

export interface LoadStart {
  readonly scenario: Scenario;
  readonly ports: readonly number[];
  /** A bare server: there is no scheduler behind it. */
  readonly isBare: boolean;
}

export type LoadOrder = { readonly kind: 'connect' } | ({ readonly kind: 'open' } & RoundOrder);

const start = startedWith<LoadStart>();
const { scenario, ports, isBare } = start;
/** A failure is reported when nothing has moved for this long. */
const PATIENCE_MS = 15_000;

/** Jobs that were sent to a node, and jobs that ended there. */
const seen = { assigned: 0, done: 0 };
const load = scenario.measures === 'requests' ? createRequests(start) : createUtterances(start);

async function startNodes(): Promise<void> {
  const chance = createChance(scenario.fleet.nodes);
  const { nodes, slots, heartbeatSeconds } = scenario.fleet;
  for (let index = 0; index < nodes; index++) {
    await startRawNode({
      url: `ws://127.0.0.1:${ports[index % ports.length]}`,
      nodeId: `node-bench-${index}`,
      slots,
      languages: languagesOf(scenario, index),
      heartbeatMs: heartbeatSeconds * 1_000,
      serviceMs: () => serviceMs(scenario.service, chance),
      onAssigned(sessionId, utteranceIndex) {
        seen.assigned += 1;
        load.assigned(sessionId, utteranceIndex);
      },
      onDone() {
        seen.done += 1;
      },
    });
  }
}

/** Every job that was sent must end before the next round begins. */
async function untilQuiet(): Promise<void> {
  let moved = performance.now();
  let before = seen.done;
  while (seen.done < seen.assigned || !load.isQuiet()) {
    if (seen.done !== before) moved = performance.now();
    before = seen.done;
    if (performance.now() - moved > PATIENCE_MS) throw new Error('jobs were begun and did not end');
    await later(10);
  }
}

if (!isBare) await startNodes();
serve({}, async (order: LoadOrder) => {
  if (order.kind === 'connect') {
    await load.connect();
    return {};
  }
  const driven = await load.open(order);
  await untilQuiet();
  return driven;
});
