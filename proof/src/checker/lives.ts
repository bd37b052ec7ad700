/** When each instance lived, and when none did. A frozen instance does not live. Pure. */
import { type HistoryEvent, ofKind } from '../../../packages/simulation/dist/history.js';
import { type Fault, familyOf, isOf } from './faults.ts';
import { createSpans, type Span, type Spans } from './spans.ts';

export interface Lives {
  /** When an instance was dead or frozen, by its name; the time before its first start is not included. */
  readonly silences: ReadonlyMap<string, Spans>;
  /** When no instance lived. */
  readonly lifeless: Spans;
}

interface Change {
  readonly at: number;
  readonly instance: string;
  /** `starting`: the process exists, but does not serve yet. */
  readonly what: 'starting' | 'up' | 'down' | 'frozen' | 'thawed';
}

export function livesOf(history: readonly HistoryEvent[], faults: readonly Fault[]): Lives {
  const silences = new Map<string, Span[]>();
  const lifeless: Span[] = [];
  const known = new Map<string, { isUp: boolean; isFrozen: boolean; silentSince: number | undefined }>();
  let living = 0;
  let lifelessSince: number | undefined;

  function change({ at, instance, what }: Change): void {
    const life = known.get(instance) ?? { isUp: false, isFrozen: false, silentSince: undefined };
    if (!known.has(instance)) {
      // Its start was not recorded: it existed from the beginning.
      if (what === 'down' || what === 'frozen') {
        life.isUp = true;
        living += 1;
      }
      known.set(instance, life);
    }
    const endSilence = (): void => {
      if (life.silentSince !== undefined) add(silences, instance, { from: life.silentSince, to: at });
      life.silentSince = undefined;
    };
    if (what === 'starting') {
      endSilence();
      return;
    }
    const was = life.isUp && !life.isFrozen;
    if (what === 'up' || what === 'down') [life.isUp, life.isFrozen] = [what === 'up', false];
    else life.isFrozen = what === 'frozen' && life.isUp;
    const is = life.isUp && !life.isFrozen;
    if (was === is) return;
    living += is ? 1 : -1;
    if (is) endSilence();
    else life.silentSince = at;
    if (living > 0 && lifelessSince !== undefined) lifeless.push({ from: lifelessSince, to: at });
    lifelessSince = living > 0 ? undefined : (lifelessSince ?? at);
  }

  for (const each of changesOf(history, faults)) change(each);
  const to = Number.POSITIVE_INFINITY;
  for (const [instance, { silentSince }] of known)
    if (silentSince !== undefined) add(silences, instance, { from: silentSince, to });
  if (lifelessSince !== undefined) lifeless.push({ from: lifelessSince, to });
  return {
    silences: new Map([...silences].map(([instance, spans]) => [instance, createSpans(spans)])),
    lifeless: createSpans(lifeless),
  };
}

function add(silences: Map<string, Span[]>, instance: string, span: Span): void {
  const spans = silences.get(instance);
  if (spans === undefined) silences.set(instance, [span]);
  else spans.push(span);
}

function changesOf(history: readonly HistoryEvent[], faults: readonly Fault[]): Change[] {
  const ups = ofKind(history, 'instance_up', 'instance_down').map(
    ({ kind, at, instance }): Change => ({ at, instance, what: kind === 'instance_up' ? 'up' : 'down' }),
  );
  const freezes = faults
    .filter(({ what }) => what === 'instance_frozen')
    .flatMap(({ beganAt, endedAt, target: instance }): Change[] => [
      { at: beganAt, instance, what: 'frozen' },
      { at: endedAt, instance, what: 'thawed' },
    ]);
  const starts = faults
    .filter(isOf('instance_killed', 'instance_restarted'))
    // A name with a process number does not come back: the next process has another name.
    .filter(({ target }) => familyOf(target) === target)
    .map(({ endedAt, target: instance }): Change => ({ at: endedAt, instance, what: 'starting' }));
  return [...ups, ...freezes, ...starts].sort((one, other) => one.at - other.at);
}
