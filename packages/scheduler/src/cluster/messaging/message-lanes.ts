/** Letters in lanes: those of one lane are handled one after the other, those of different lanes at the same time. */
import type { Letter } from '../../ports/inbox.ts';

export interface LetterLanes {
  /** A letter that comes again is older than what waits in its lane, and goes before it. */
  add(letter: Letter): void;
  /** Letters that wait or are being handled. */
  size(): number;
}

export function createLetterLanes(deps: {
  laneOf: (body: string) => string;
  /** Never rejects. */
  handle: (letter: Letter) => Promise<void>;
}): LetterLanes {
  /** What waits behind the letter that is being handled. A lane without one is not here. */
  const lanes = new Map<string, Letter[]>();
  let size = 0;

  async function run(lane: string, waiting: Letter[]): Promise<void> {
    for (let letter = waiting.shift(); letter !== undefined; letter = waiting.shift()) {
      await deps.handle(letter);
      size -= 1;
    }
    lanes.delete(lane);
  }

  return {
    add(letter) {
      size += 1;
      const lane = deps.laneOf(letter.body);
      const waiting = lanes.get(lane);
      if (waiting !== undefined) return insert(waiting, letter);
      const own = [letter];
      lanes.set(lane, own);
      void run(lane, own);
    },
    size: () => size,
  };
}

const comesAgain = ({ deliveries }: Letter): boolean => deliveries > 1;

function insert(waiting: Letter[], letter: Letter): void {
  const firstNew = comesAgain(letter) ? waiting.findIndex((other) => !comesAgain(other)) : -1;
  waiting.splice(firstNew < 0 ? waiting.length : firstNew, 0, letter);
}
