/** A terminal that records its output and can be interrupted. */
import type { CommandIo } from '../../src/cli/command-io.ts';

export interface Terminal extends CommandIo {
  readonly lines: string[];
  readonly errors: string[];
  interrupt(): void;
}

export function createTerminal(): Terminal {
  const controller = new AbortController();
  const lines: string[] = [];
  const errors: string[] = [];
  return {
    lines,
    errors,
    out: (line) => lines.push(line),
    err: (line) => errors.push(line),
    interrupted: controller.signal,
    interrupt: () => controller.abort(),
  };
}
