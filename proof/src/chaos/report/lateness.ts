/** How late the machine was: a process that waits for a processor cannot be distinguished from a broken one. */
const EVERY_MS = 20;

export interface Lateness {
  /** How much later than requested a timer of this process fired at most. */
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
