/** Cold path: merges the statistics of several instances. Pure; a generator, so the caller can pause at each `yield`. */
import { addPower, createPowerRanking, NO_POWER } from './compute-power.ts';
import type { Counts, StatsPart } from './stats-part.ts';
import { createLanguageTally, createTally, type Tally } from './tally.ts';

/** Each node and each session is counted by its own instance, so nothing is counted twice. */
export function* mergeParts(parts: Iterable<StatsPart>): Generator<void, StatsPart> {
  const tallies = {
    models: createTally(),
    services: createTally(),
    types: createTally(),
    typesInUse: createTally(),
  };
  const languages = createLanguageTally();
  const ranking = createPowerRanking();
  let power = NO_POWER;
  let activeUsers = 0;
  let connectedNodes = 0;
  for (const part of parts) {
    activeUsers += part.activeUsers;
    connectedNodes += part.connectedNodes;
    power = addPower(power, part.power);
    addAll(tallies.models, part.models);
    addAll(tallies.services, part.services);
    addAll(tallies.types, part.types);
    addAll(tallies.typesInUse, part.typesInUse);
    for (const use of part.languages) languages.add(...use);
    for (const node of part.details) ranking.add(node);
    yield;
  }
  const counts = {
    models: tallies.models.result(),
    services: tallies.services.result(),
    types: tallies.types.result(),
    typesInUse: tallies.typesInUse.result(),
  };
  yield;
  return {
    activeUsers,
    languages: languages.result(),
    connectedNodes,
    ...counts,
    power,
    details: ranking.result(),
  };
}

function addAll(tally: Tally, counts: Counts): void {
  for (const [name, nodes] of counts) tally.add(name, nodes);
}
