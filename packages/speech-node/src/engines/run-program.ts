/** Runs a program once: text or bytes in, bytes out, bounded, and ended when the signal is aborted. */
import { spawn } from 'node:child_process';
import { JobError } from '@lingua/sdk/node';

export interface ProgramRun {
  readonly program: string;
  readonly args: readonly string[];
  readonly input?: string | Uint8Array;
  readonly signal: AbortSignal;
  readonly maxBytes: number;
}

const LONGEST_COMPLAINT = 2_000;

/** Rejects with the reason of the signal, or with a JobError that names the program. */
export function runProgram({ program, args, input, signal, maxBytes }: ProgramRun): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'pipe'] });
    const parts: Buffer[] = [];
    let bytes = 0;
    let complaint = '';
    let fault: Error | undefined;
    const end = (): boolean => child.kill('SIGKILL');
    signal.addEventListener('abort', end, { once: true });
    child.stdout.on('data', (part: Buffer) => {
      bytes += part.length;
      if (bytes <= maxBytes) parts.push(part);
      else {
        fault ??= new Error(`its output is longer than ${maxBytes} bytes`);
        end();
      }
    });
    child.stderr.on('data', (part: Buffer) => {
      complaint = `${complaint}${part}`.slice(0, LONGEST_COMPLAINT);
    });
    child.on('error', (error) => {
      fault ??= error;
    });
    // A program that does not read all of its input is judged by its status.
    child.stdin.on('error', () => {});
    child.on('close', (status) => {
      signal.removeEventListener('abort', end);
      if (signal.aborted) return reject(signal.reason);
      if (fault === undefined && status === 0) return resolve(Buffer.concat(parts));
      const why = fault?.message ?? `it ended with ${status ?? 'a signal'}: ${complaint.trim()}`;
      reject(new JobError('PROCESSING_ERROR', `${program}: ${why}`, undefined, { cause: fault }));
    });
    child.stdin.end(input ?? '');
  });
}
