/** The program under test: started once per scenario, told what to do on its input, and heard on its output. */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

/** In the variable LINGUA_CONFORMANCE, as JSON. */
export interface NodeConfig {
  readonly url: string;
  readonly token?: string;
  readonly node_id?: string;
  readonly max_concurrent_jobs: number;
  /** Fields of node_register. */
  readonly capabilities: Readonly<Record<string, unknown>>;
  /** Announced besides those of the SDK. */
  readonly supports: readonly string[];
  readonly timings: Readonly<Record<string, number>>;
}

export type ProgramEvent = Readonly<Record<string, unknown>>;

export interface NodeProgram {
  tell(order: Readonly<Record<string, unknown>>): void;
  readonly events: readonly ProgramEvent[];
  /** Of standard error, for the report of a failure. */
  lastWords(): string;
  hasEnded(): boolean;
  /** Its input ends, so it should end; it is killed if it does not. */
  end(): Promise<void>;
}

export type StartProgram = (config: NodeConfig, changed: () => void) => NodeProgram;

const END_MS = 2_000;
const LAST_WORDS = 2_000;

/** Starts a command of the shell. */
export function startCommand(command: string): StartProgram {
  return (config, changed) => {
    const child = spawn(command, {
      shell: true,
      // Its own group, so that a shell's children end with it.
      detached: true,
      env: { ...process.env, LINGUA_CONFORMANCE: JSON.stringify(config) },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    const events: ProgramEvent[] = [];
    let words = '';
    let isEnded = false;
    const ended = new Promise<void>((resolve) => {
      child.once('close', () => {
        isEnded = true;
        changed();
        resolve();
      });
    });
    child.once('error', (error) => {
      words += String(error);
      isEnded = true;
      changed();
    });
    child.stdin.on('error', () => {});
    child.stderr.on('data', (data: Buffer) => {
      words = (words + data.toString()).slice(-LAST_WORDS);
    });
    createInterface({ input: child.stdout }).on('line', (line) => {
      events.push(readEvent(line));
      changed();
    });
    const kill = (): void => {
      try {
        if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
      } catch {
        // It has ended meanwhile.
      }
    };
    return {
      tell: (order) => void child.stdin.write(`${JSON.stringify(order)}\n`),
      events,
      lastWords: () => words,
      hasEnded: () => isEnded,
      async end() {
        child.stdin.end();
        const timer = setTimeout(kill, END_MS);
        if (!isEnded) await ended;
        clearTimeout(timer);
      },
    };
  };
}

/** Other output of the program is shown as it is. */
function readEvent(line: string): ProgramEvent {
  try {
    return Object(JSON.parse(line)) as ProgramEvent;
  } catch {
    return { text: line };
  }
}
