/** A fleet as a plain map, moved by the same steps as the real one. */
import type { FleetView } from '../../../src/runtime/fleet/fleet-view.ts';
import type { PlainNode } from '../select/naive-rules.ts';
import type { FleetStep } from './fleet-fixture.ts';

export function apply(fleet: FleetView, plain: Map<string, PlainNode>, step: FleetStep): void {
  if (step.kind === 'upsert') {
    const { view } = step;
    const before = plain.get(view.nodeId);
    const isSlotsNews = before?.view.slots !== view.slots;
    const max = isSlotsNews ? view.slots : before.load.max;
    plain.set(view.nodeId, { view, load: { used: before?.load.used ?? 0, max } });
    fleet.upsert(view);
  } else if (step.kind === 'remove') {
    plain.delete(step.nodeId);
    fleet.remove(step.nodeId);
  } else {
    const before = plain.get(step.nodeId);
    const load = { used: step.used, max: step.max };
    if (before !== undefined) plain.set(step.nodeId, { view: before.view, load });
    fleet.setLoad(step.nodeId, load);
  }
}
