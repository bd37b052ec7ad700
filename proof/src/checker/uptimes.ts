/** When each instance lived, and when none did. A frozen instance does not live. Pure. */
import { type HistoryEvent, ofKind } from '../../../packages/simulation/dist/history.js';
import { type Fault, familyOf, isOf } from './faults.ts';
import { createSpans, type Span, type Spans } from './spans.ts';

export interface Uptimes {
  /** When an instance was dead or frozen, by its name; the time before its first start is not included. */
  readonly downtimes: ReadonlyMap<string, Spans>;
  /** When no instance lived. */
  readonly allDown: Spans;
}

interface Change {
  readonly at: number;
  readonly instance: string;
  /** `starting`: the process exists, but does not serve yet. */
  readonly what: 'starting' | 'up' | 'down' | 'frozen' | 'thawed';
}

export function uptimesOf(history: readonly HistoryEvent[], faults: readonly Fault[]): Uptimes {
  const downtimes = new Map<string, Span[]>();
  const allDown: Span[] = [];
  const known = new Map<string, { isUp: boolean; isFrozen: boolean; silentSince: number | undefined }>();
  let living = 0;
  let allDownSince: number | undefined;

  function change({ at, instance, what }: Change): void {
    const uptime = known.get(instance) ?? { isUp: false, isFrozen: false, silentSince: undefined };
    if (!known.has(instance)) {
      // Its start was not recorded: it existed from the beginning.
      if (what === 'down' || what === 'frozen') {
        uptime.isUp = true;
        living += 1;
      }
      known.set(instance, uptime);
    }
    const endDowntime = (): void => {
      if (uptime.silentSince !== undefined) add(downtimes, instance, { from: uptime.silentSince, to: at });
      uptime.silentSince = undefined;
    };
    if (what === 'starting') {
      endDowntime();
      return;
    }
    const was = uptime.isUp && !uptime.isFrozen;
    if (what === 'up' || what === 'down') [uptime.isUp, uptime.isFrozen] = [what === 'up', false];
    else uptime.isFrozen = what === 'frozen' && uptime.isUp;
    const is = uptime.isUp && !uptime.isFrozen;
    if (was === is) return;
    living += is ? 1 : -1;
    if (is) endDowntime();
    else uptime.silentSince = at;
    if (living > 0 && allDownSince !== undefined) allDown.push({ from: allDownSince, to: at });
    allDownSince = living > 0 ? undefined : (allDownSince ?? at);
  }

  for (const each of changesOf(history, faults)) change(each);
  const to = Number.POSITIVE_INFINITY;
  for (const [instance, { silentSince }] of known)
    if (silentSince !== undefined) add(downtimes, instance, { from: silentSince, to });
  if (allDownSince !== undefined) allDown.push({ from: allDownSince, to });
  return {
    downtimes: new Map([...downtimes].map(([instance, spans]) => [instance, createSpans(spans)])),
    allDown: createSpans(allDown),
  };
}

function add(downtimes: Map<string, Span[]>, instance: string, span: Span): void {
  const spans = downtimes.get(instance);
  if (spans === undefined) downtimes.set(instance, [span]);
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
