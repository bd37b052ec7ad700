/**
 * Hot path: questions to another instance that need not go through the store: asked of it directly, where it can be reached and is
 * of a version that hears them. All others are asked by message, which says so here by `unheard` or `unclear`.
 */
import { driverName } from '../../domain/driver-name.ts';
import type { Clock } from '../../ports/clock.ts';
import type { DirectAnswer, DirectLine } from '../../ports/direct-line.ts';
import type { Instance } from '../../ports/instances.ts';
import type { Meter } from '../../ports/meter.ts';

export type Told =
  | Extract<DirectAnswer, { kind: 'answered' }>
  /** `unclear`: it may have been heard. */
  | { readonly kind: 'unheard' | 'unclear' };

export interface DirectAsks {
  /** Never rejects. */
  ask(to: string, question: string, limitMs: number): Promise<Told>;
  underWay(): number;
}

/** Far longer than an answer takes, so that a message still is in time. */
const ANSWER_MS = 1_000;
const SHARE_OF_LIMIT = 1 / 3;
/** What could not be reached is left alone for so long. */
const AVOID_MS = 30_000;
/** Each has a connection of its own. What comes on top goes by message: those can be held up. */
const MOST_UNDER_WAY = 256;

export function createDirectAsks(deps: {
  line: DirectLine;
  living: (expected: string) => Promise<ReadonlyMap<string, Instance>>;
  isFenced: () => boolean;
  clock: Clock;
  meter: Meter;
}): DirectAsks {
  const { line, clock, meter } = deps;
  /** Lives that could not be reached, and until when they are not tried. */
  const avoided = new Map<string, number>();
  let underWay = 0;

  function isAvoided(life: string): boolean {
    const until = avoided.get(life);
    if (until === undefined) return false;
    if (clock.now() < until) return true;
    avoided.delete(life);
    return false;
  }

  function avoid(life: string): void {
    const now = clock.now();
    // Of those that are gone nobody asks any more.
    for (const [each, until] of avoided) if (until <= now) avoided.delete(each);
    avoided.set(life, now + AVOID_MS);
  }

  async function askAt(instance: Instance, question: string, limitMs: number): Promise<Told> {
    const { advertiseUrl: url, directKey: key } = instance;
    const life = driverName(instance);
    if (url === undefined || key === undefined || isAvoided(life) || underWay >= MOST_UNDER_WAY) {
      return counted('not_tried', UNHEARD);
    }
    underWay += 1;
    const answer = await line.ask({ url, key }, question, Math.min(ANSWER_MS, limitMs * SHARE_OF_LIMIT));
    underWay -= 1;
    if (answer.kind === 'unreached') avoid(life);
    return counted(answer.kind, answer.kind === 'busy' || answer.kind === 'unreached' ? UNHEARD : answer);
  }

  function counted(outcome: DirectAnswer['kind'] | 'not_tried', told: Told): Told {
    meter.count('scheduler_direct_questions_total', { outcome });
    return told;
  }

  return {
    async ask(to, question, limitMs) {
      const instance = await deps.living(to).then(
        (living) => living.get(to),
        () => undefined,
      );
      // Whoever may have been taken for dead asks nobody. What became of whom is asked the message finds out.
      if (instance === undefined || deps.isFenced()) return UNHEARD;
      return askAt(instance, question, limitMs);
    },
    underWay: () => underWay,
  };
}

const UNHEARD: Told = { kind: 'unheard' };
