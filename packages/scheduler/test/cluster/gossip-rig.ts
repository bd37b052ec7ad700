/** Instances that whisper to one another, and what was said and heard. */
import { createWhispers } from '../../src/adapters/memory/hint-bus.ts';
import { createGossip } from '../../src/cluster/messaging/hints.ts';
import type { Load } from '../../src/domain/lease.ts';
import type { Whispers } from '../../src/ports/hint-bus.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { QUIET } from './post-rig.ts';

/** DESIGN §6: views up to a tenth of a second old get a slot at the first try. */
export const FRESH_MS = 100;

export function startTalk() {
  const clock = createManualClock();
  const faults: unknown[] = [];
  const whispers = createWhispers({ onFault: (fault) => faults.push(fault) });
  const said: { readonly to: string; readonly text: string }[] = [];
  const noting: Whispers = {
    say(to, text) {
      said.push({ to, text });
      whispers.say(to, text);
    },
    sayToAll(text) {
      said.push({ to: 'all', text });
      whispers.sayToAll(text);
    },
    listen: whispers.listen,
  };

  function make(instanceId: string, listen: Whispers['listen'] = noting.listen) {
    const heard: string[] = [];
    /** As its fleet view has it. */
    const known = new Map<string, Load>();
    const state = { isFenced: false };
    const gossip = createGossip({
      whispers: { ...noting, listen },
      clock,
      log: QUIET,
      instanceId,
      isFenced: () => state.isFenced,
      loadOf: (nodeId) => known.get(nodeId),
      events: {
        loaded(nodeId, load) {
          known.set(nodeId, load);
          heard.push(`${nodeId} ${load.used}/${load.max}`);
        },
        nodeNews: (nodeId, news, { types, services }) =>
          void heard.push([nodeId, news, ...types, ...services].join(' ')),
        missing: (nodeId, { serviceId, version, reason }) =>
          void heard.push(`${nodeId} lacks ${serviceId}@${version}: ${reason}`),
        partial: ({ jobId, nodeId, text, isFinal }) =>
          void heard.push(`${jobId} on ${nodeId}: ${text}${isFinal ? '.' : '…'}`),
        asked: (text) => void heard.push(`asked ${text}`),
      },
    });
    /** As the ledger answers: told to the others, then taken into the view. */
    function load(nodeId: string, used: number, max: number): void {
      gossip.load(nodeId, { used, max });
      known.set(nodeId, { used, max });
    }
    return { gossip, heard, state, known, load };
  }

  async function join(instanceId: string) {
    const one = make(instanceId);
    await one.gossip.start();
    return one;
  }
  return { clock, whispers, said, faults, make, join };
}
