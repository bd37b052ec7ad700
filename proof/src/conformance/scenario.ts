/** The scenario files: JSON lines, one step per line. A line with `scenario` begins the next scenario. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Every kind of step is one field of its object, described in docs/conformance.md. */
export const STEPS = [
  'start',
  'admit',
  'expect',
  'expect_among',
  'beat',
  'beats',
  'authorization',
  'assign',
  'send',
  'send_text',
  'open',
  'tell',
  'event',
  'close',
  'cut',
  'freeze',
  'listen',
  'disconnected',
  'refuse_upgrade',
  'serve',
  'fetched',
  'quiet',
  'exit',
] as const;
export type StepKind = (typeof STEPS)[number];

export interface Step {
  readonly kind: StepKind;
  readonly value: unknown;
  /** Such as jobs.jsonl:12. */
  readonly at: string;
}

export interface Scenario {
  readonly name: string;
  /** What a node does, as a sentence. */
  readonly shows: string;
  /** The extensions without which the scenario does not apply. */
  readonly needs: readonly string[];
  readonly steps: readonly Step[];
}

export class ScenarioFault extends Error {}

export function readScenarios(folder: string): Scenario[] {
  const files = readdirSync(folder)
    .filter((name) => name.endsWith('.jsonl'))
    .sort();
  if (files.length === 0) throw new ScenarioFault(`${folder} has no .jsonl files`);
  return files.flatMap((name) => parseScenarios(readFileSync(join(folder, name), 'utf8'), name));
}

export function parseScenarios(text: string, file: string): Scenario[] {
  const scenarios: (Scenario & { readonly steps: Step[] })[] = [];
  text.split('\n').forEach((line, index) => {
    if (line.trim() === '') return;
    const at = `${file}:${index + 1}`;
    const fields = readLine(line, at);
    if (typeof fields.scenario === 'string') {
      const { scenario: name, shows = '', needs = [] } = fields;
      scenarios.push({ name, shows: String(shows), needs: needs as string[], steps: [] });
      return;
    }
    const [kind, ...more] = Object.keys(fields);
    if (kind === undefined || more.length > 0 || !(STEPS as readonly string[]).includes(kind))
      throw new ScenarioFault(`${at}: a step has one field, one of ${STEPS.join(', ')}`);
    const current = scenarios.at(-1);
    if (current === undefined) throw new ScenarioFault(`${at}: the first line must name a scenario`);
    current.steps.push({ kind: kind as StepKind, value: fields[kind], at });
  });
  return scenarios;
}

function readLine(line: string, at: string): Record<string, unknown> {
  try {
    return Object(JSON.parse(line)) as Record<string, unknown>;
  } catch (error) {
    throw new ScenarioFault(`${at}: ${(error as Error).message}`);
  }
}
