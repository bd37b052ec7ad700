/**
 * How busy this machine is with other programs. The scheduler gives no jobs to a machine that is nearly busy; what this
 * process itself uses is already limited by its slots, and would make it refuse work whenever it works. Not pure.
 */
import os from 'node:os';

export interface OtherLoad {
  readonly cpu_percent: number;
  readonly mem_percent: number;
}

export function createOtherLoadMeter(): () => OtherLoad {
  let before = machineTimes();
  let ownBefore = ownMs();
  let percent = 0;
  return () => {
    const [now, own] = [machineTimes(), ownMs()];
    const total = now.total - before.total;
    // The counters advance every 10 ms.
    if (total > 0) {
      percent = (100 * (total - (now.idle - before.idle) - (own - ownBefore))) / total;
      [before, ownBefore] = [now, own];
    }
    return { cpu_percent: bounded(percent), mem_percent: bounded(100 * (1 - os.freemem() / os.totalmem())) };
  };
}

function machineTimes(): { readonly idle: number; readonly total: number } {
  let [idle, total] = [0, 0];
  for (const { times } of os.cpus()) {
    idle += times.idle;
    total += times.user + times.nice + times.sys + times.idle + times.irq;
  }
  return { idle, total };
}

/** All threads of this process. */
function ownMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

const bounded = (percent: number): number => Math.round(Math.min(100, Math.max(0, percent)) * 10) / 10;
