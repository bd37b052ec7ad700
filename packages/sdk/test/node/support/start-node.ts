/** A node and its scripted scheduler, both closed after the test. */
import { afterEach } from 'vitest';
import { createNode, type GpuNode, type NodeLog, type NodeOptions } from '../../../src/node/index.ts';
import { type Script, type ScriptedScheduler, startScriptedScheduler } from './scripted-scheduler.ts';

export interface LogEntry {
  readonly level: keyof NodeLog;
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

export interface Started {
  readonly scheduler: ScriptedScheduler;
  readonly node: GpuNode;
  readonly logged: LogEntry[];
}

const open: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

/** Creates the node without starting it. */
export async function prepareNode(options: Partial<NodeOptions> = {}, script: Script = {}): Promise<Started> {
  const scheduler = await startScriptedScheduler(script);
  const logged: LogEntry[] = [];
  const line = (level: keyof NodeLog) => (fields: LogEntry['fields'], message: string) => {
    logged.push({ level, message, fields });
  };
  const node = createNode({
    url: scheduler.url,
    maxConcurrentJobs: 2,
    capabilities: {},
    onJob: () => ({ text_asr: 'hello', text_translated: 'hallo' }),
    log: { debug: line('debug'), info: line('info'), warn: line('warn'), error: line('error') },
    ...options,
    timings: { firstMs: 5, longestMs: 50, ...options.timings },
  });
  open.push(scheduler.stop, () => node.stop({ graceMs: 0 }));
  return { scheduler, node, logged };
}

export async function startNode(options: Partial<NodeOptions> = {}, script: Script = {}): Promise<Started> {
  const prepared = await prepareNode(options, script);
  await prepared.node.start();
  return prepared;
}

/** Work that ends when the test opens the gate. */
export function createGate(): { readonly passed: Promise<void>; readonly open: () => void } {
  let open: () => void = () => {};
  const passed = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { passed, open };
}
