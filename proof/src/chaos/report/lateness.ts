/** How late the machine was: whoever waits for a turn of a processor cannot be told from somebody who is broken. */
const EVERY_MS = 20;

export interface Lateness {
  /** How much later than asked for a timer of this process came at most. */
  latestMs(): number;
  stop(): void;
}

export function watchLateness(): Lateness {
  let latest = 0;
  let last = performance.now();
  const timer = setInterval(() => {
    const now = performance.now();
    latest = Math.max(latest, now - last - EVERY_MS);
    last = now;
  }, EVERY_MS);
  return { latestMs: () => Math.round(latest), stop: () => clearInterval(timer) };
}
