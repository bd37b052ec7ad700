/** At rest: more jobs are requested than there are slots, and none ends meanwhile. A slot that leaked stays empty. */
import { ofKind, type Recorder } from '../../../packages/simulation/dist/history.js';
import { eventually } from '../eventually.ts';
import { startCaller } from './clients/caller.ts';
import { startDispatcher } from './clients/dispatcher.ts';
import type { Brake } from './fleet/brake.ts';
import { TENANTS } from './tenants.ts';
import type { Backend } from './wire/balancer.ts';

/** Shorter than a job may take. */
const FILLED_WITHIN_MS = 5_000;
/** Of all tenants. More than a second of it fills the fleet. */
const PER_SECOND = 60;
/** Of each tenant, typed and spoken. */
const OF_STAGES_PER_SECOND = 5;

export async function probeSlots(options: {
  readonly recorder: Recorder;
  readonly brake: Brake;
  readonly chance: () => number;
  readonly backends: () => readonly Backend[];
}): Promise<void> {
  const { recorder, brake } = options;
  const free = freeSlots(recorder);
  brake.hold();
  recorder.record({ kind: 'probe_began', nodes: [...free.keys()] });
  const begunAt = recorder.history.length;
  const askers = await Promise.all(
    TENANTS.flatMap((tenant) => {
      const about = { ...options, tenant, perSecond: PER_SECOND / TENANTS.length };
      const ofStages = (how: string, isTyped: boolean) =>
        startCaller({
          ...about,
          name: `prober-${how}-${tenant.name}`,
          requests: `probe-${how}`,
          perSecond: OF_STAGES_PER_SECOND,
          isTyped,
        });
      return [
        startDispatcher({ ...about, name: `prober-${tenant.name}`, requests: 'probe' }),
        ofStages('typed', true),
        ofStages('spoken', false),
      ];
    }),
  );
  const isFull = (): boolean => {
    const started = ofKind(recorder.history.slice(begunAt), 'started');
    return [...free].every(([node, slots]) => started.filter((each) => each.node === node).length >= slots);
  };
  // Whether they are is decided by the checker.
  await eventually(isFull, { withinMs: FILLED_WITHIN_MS }).catch(() => {});
  recorder.record({ kind: 'probe_ended' });
  brake.letGo();
  await Promise.all(askers.map((asker) => asker.finish()));
  for (const asker of askers) asker.close();
}

/** Of the nodes that live, and of which a first stage can be filled: the others wait for its text. */
function freeSlots({ history }: Recorder): ReadonlyMap<string, number> {
  const slots = new Map<string, number>();
  for (const each of ofKind(history, 'node_up', 'node_down')) {
    if (each.kind === 'node_up') {
      if (each.stages === undefined || FIRST.test(each.stages)) slots.set(each.node, each.slots);
    } else slots.delete(each.node);
  }
  return slots;
}

/** A typed text is translated first. */
const FIRST = /asr|nmt/;
