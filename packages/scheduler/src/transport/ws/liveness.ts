/** Finds out that a peer is gone although nobody closed the connection: asks, and counts the silences. */
import type { Clock } from '../../ports/clock.ts';

const SILENCES_OF_THE_DEAD = 2;

export function watchLiveness(deps: {
  clock: Clock;
  intervalMs: number;
  /** Any byte is a sign of life, also those of a long message that is not complete yet. */
  bytesRead: () => number;
  /** We have stopped reading ourselves: silence proves nothing. */
  isPaused: () => boolean;
  ping: () => void;
  onDead: () => void;
}): { stop(): void } {
  let seen = deps.bytesRead();
  let silences = 0;
  let cancel = deps.clock.after(deps.intervalMs, check);

  // Silent ticks are counted, not time: after a long pause of our own, the answers still wait in the socket.
  function check(): void {
    const read = deps.bytesRead();
    silences = read === seen && !deps.isPaused() ? silences + 1 : 0;
    seen = read;
    if (silences >= SILENCES_OF_THE_DEAD) {
      deps.onDead();
      return;
    }
    deps.ping();
    cancel = deps.clock.after(deps.intervalMs, check);
  }

  return { stop: () => cancel() };
}
