/** CPU and memory use of this machine, for nodes without their own meter. */
import os from 'node:os';

export interface MachineUsage {
  readonly cpu_percent: number;
  readonly mem_percent: number;
}

/** Each call returns the use since the previous one; the first call, since the start of the meter. */
export function createMachineMeter(): () => MachineUsage {
  let before = cpuTimes();
  let percent = 0;
  return () => {
    const now = cpuTimes();
    const total = now.total - before.total;
    // The counters advance every 10 ms: two calls within that time would divide by zero.
    if (total > 0) {
      percent = 100 * (1 - (now.idle - before.idle) / total);
      before = now;
    }
    return { cpu_percent: rounded(percent), mem_percent: rounded(100 * (1 - os.freemem() / os.totalmem())) };
  };
}

function cpuTimes(): { idle: number; total: number } {
  let idle = 0;
  let total = 0;
  for (const { times } of os.cpus()) {
    idle += times.idle;
    total += times.user + times.nice + times.sys + times.idle + times.irq;
  }
  return { idle, total };
}

const rounded = (percent: number): number => Math.round(Math.min(100, Math.max(0, percent)) * 10) / 10;
