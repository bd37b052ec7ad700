/** Instances that send hints to each other, with a record of what was sent and received. */
import { createHints } from '../../../src/cluster/messaging/hints.ts';
import type { Load } from '../../../src/domain/lease.ts';
import type { HintBus } from '../../../src/ports/hint-bus.ts';
import { createTestCluster } from '../../support/test-cluster.ts';
import { QUIET } from './message-bus-rig.ts';

/** DESIGN §6: views up to a tenth of a second old get a slot at the first try. */
export const FRESH_MS = 100;

export function startTalk() {
  const faults: unknown[] = [];
  const { clock, store } = createTestCluster({ onFault: (fault) => faults.push(fault) });
  const { hintBus } = store;
  const said: { readonly to: string; readonly text: string }[] = [];
  const noting: HintBus = {
    send(to, text) {
      said.push({ to, text });
      hintBus.send(to, text);
    },
    sendToAll(text) {
      said.push({ to: 'all', text });
      hintBus.sendToAll(text);
    },
    subscribe: hintBus.subscribe,
  };

  function make(instanceId: string, subscribe: HintBus['subscribe'] = noting.subscribe) {
    const received: string[] = [];
    /** As its fleet view has it. */
    const known = new Map<string, Load>();
    const state = { isFenced: false };
    const hints = createHints({
      hintBus: { ...noting, subscribe },
      clock,
      log: QUIET,
      instanceId,
      isFenced: () => state.isFenced,
      loadOf: (nodeId) => known.get(nodeId),
      events: {
        loaded(nodeId, load) {
          known.set(nodeId, load);
          received.push(`${nodeId} ${load.used}/${load.max}`);
        },
        attemptOutcome: (nodeId, news, { types, services }) =>
          void received.push([nodeId, news, ...types, ...services].join(' ')),
        missing: (nodeId, { serviceId, version, reason }) =>
          void received.push(`${nodeId} lacks ${serviceId}@${version}: ${reason}`),
        partial: ({ jobId, nodeId, text, isFinal }) =>
          void received.push(`${jobId} on ${nodeId}: ${text}${isFinal ? '.' : '…'}`),
        room: (hint) => void received.push(`room ${JSON.stringify(hint)}`),
        followed: ({ jobId, text }) => void received.push(`${jobId} for subscribers: ${text}`),
        pace: (kindOfWork, nodeId, pace) => void received.push(`${nodeId} ${kindOfWork}: ${pace} ms`),
        figures: (from, figures) => void received.push(`figures of ${from}: ${JSON.stringify(figures)}`),
      },
    });
    /** An answer of the ledger: published, then taken into the view. */
    function load(nodeId: string, used: number, max: number): void {
      hints.load(nodeId, { used, max });
      known.set(nodeId, { used, max });
    }
    return { hints, received, state, known, load };
  }

  async function join(instanceId: string) {
    const one = make(instanceId);
    await one.hints.start();
    return one;
  }
  return { clock, hintBus, said, faults, make, join };
}
