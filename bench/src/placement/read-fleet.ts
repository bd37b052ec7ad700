/** A fleet whose placement is compared, from the text of its file. */
import { parse, TomlError } from 'smol-toml';
import { createFields, type Fields, ScenarioError } from '../scenario/fields.ts';

export interface Disturbance {
  /** Mean time between two disturbances of a node. */
  readonly everyMs: number;
  readonly kinds: readonly { readonly share: number; readonly slowness: number; readonly lastsMs: number }[];
}

export interface PlacementFleet {
  readonly name: string;
  readonly title: string;
  readonly slots: number;
  /** How many times longer than a usual node each one takes. */
  readonly slowness: readonly number[];
  readonly disturbance: Disturbance | undefined;
}

const MOST_NODES = 2_000;

export function readFleet(file: string, name: string, text: string): PlacementFleet {
  const fields = createFields(file, parsed(file, text));
  const slowness = fields.tables('nodes').flatMap((group) => {
    const count = group.number('count', { min: 1, max: MOST_NODES, isWhole: true });
    return new Array<number>(count).fill(group.number('slowness', { min: 0.01, max: 100 }));
  });
  if (slowness.length === 0 || slowness.length > MOST_NODES)
    fields.fail('nodes', `must declare between 1 and ${MOST_NODES} nodes, not ${slowness.length}`);
  const fleet = {
    name,
    title: fields.text('title'),
    slots: fields.number('slots', { min: 1, max: 64, isWhole: true }),
    slowness,
    disturbance: fields.has('disturbance') ? readDisturbance(fields.table('disturbance')) : undefined,
  };
  fields.end();
  return fleet;
}

const readDisturbance = (fields: Fields): Disturbance => ({
  everyMs: 1_000 * fields.number('every_s', { min: 1, max: 86_400 }),
  kinds: fields.tables('kinds').map((kind) => ({
    share: kind.number('share', { min: 0, max: 1 }),
    slowness: kind.number('slowness', { min: 0.01, max: 100 }),
    lastsMs: 1_000 * kind.number('lasts_s', { min: 0.1, max: 86_400 }),
  })),
});

function parsed(file: string, text: string): Record<string, unknown> {
  try {
    return parse(text);
  } catch (error) {
    if (error instanceof TomlError) throw new ScenarioError(file, '', error.message);
    throw error;
  }
}
