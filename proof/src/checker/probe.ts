/** I2: after everything every slot can be filled again. That no more than those can be is I1. Pure. */
import { type Happening, ofKind } from '../../../packages/scheduler/dist/simulation/history.js';
import type { Finding, Violation } from './violation.ts';

interface Filling {
  readonly slots: number;
  readonly running: Set<string>;
  most: number;
}

export function checkProbe(history: readonly Happening[]): Finding {
  const nodes = new Map<string, Filling>();
  const violations: Violation[] = [];
  let probed: readonly string[] | undefined;
  let [judged, unfilled] = [0, 0];

  function finish(at: number): void {
    for (const node of probed ?? []) {
      judged += 1;
      const { most, slots } = nodes.get(node) ?? { most: 0, slots: 0 };
      if (most >= slots && slots > 0) continue;
      unfilled += Math.max(1, slots - most);
      violations.push({
        invariant: 'I2 no leak',
        at,
        says: `${node} has ${slots} slots, and only ${most} of them could be filled when everything was quiet`,
        about: [node],
      });
    }
    probed = undefined;
  }

  for (const each of ofKind(
    history,
    'node_up',
    'node_down',
    'started',
    'ended',
    'probe_began',
    'probe_ended',
  )) {
    if (each.kind === 'node_up') nodes.set(each.node, { slots: each.slots, running: new Set(), most: 0 });
    else if (each.kind === 'node_down') nodes.delete(each.node);
    else if (each.kind === 'started') {
      const filling = nodes.get(each.node);
      filling?.running.add(each.job);
      if (filling !== undefined) filling.most = Math.max(filling.most, filling.running.size);
    } else if (each.kind === 'ended') nodes.get(each.node)?.running.delete(each.job);
    else if (each.kind === 'probe_began') {
      probed = each.nodes;
      // What still runs from before holds its slot rightly.
      for (const filling of nodes.values()) filling.most = filling.running.size;
    } else finish(each.at);
  }
  return {
    violations,
    counts: { 'slots that could not be filled again': unfilled },
    judged: { 'I2 no leak': judged },
  };
}
