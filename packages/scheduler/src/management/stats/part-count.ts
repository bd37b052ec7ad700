/** Cold path: counts nodes and languages one by one into the statistics of this instance. No clock, no I/O. */
import { ANY } from '../../domain/language.ts';
import { SERVICE_TYPES } from '../../domain/profile.ts';
import type { CountedNode } from '../node-registry.ts';
import { addPower, createPowerRanking, NO_POWER, powerOf } from './compute-power.ts';
import type { StatsPart } from './stats-part.ts';
import { createLanguageTally, createTally } from './tally.ts';

export interface PartCount {
  /** `isInUse`: the node works on a job. */
  addNode(node: CountedNode, isInUse: boolean): void;
  addLanguage(language: string, asSource: number, asTarget: number): void;
  /** A generator: each part is one piece of work. */
  result(activeUsers: number): Generator<void, StatsPart>;
}

export function createPartCount(): PartCount {
  const models = createTally();
  const services = createTally();
  const types = createTally();
  const typesInUse = createTally();
  const languages = createLanguageTally();
  const ranking = createPowerRanking();
  let power = NO_POWER;
  let connectedNodes = 0;

  return {
    addNode(node, isInUse) {
      connectedNodes += 1;
      for (const modelId of modelsOf(node)) models.add(modelId);
      for (const serviceId of node.profile.readyServices) services.add(serviceId);
      const { readyTypes } = node.profile;
      for (const type of readyTypes === ANY ? SERVICE_TYPES : readyTypes) {
        types.add(type);
        if (isInUse) typesInUse.add(type);
      }
      const own = powerOf(node.identity.hardware, node.resources);
      power = addPower(power, own);
      const { nodeId, efficiencies } = node;
      ranking.add({ nodeId, ...own, ...(efficiencies !== undefined && { efficiencies }) });
    },
    addLanguage: languages.add,
    *result(activeUsers) {
      const counted = { models: models.result() };
      yield;
      const more = { services: services.result(), types: types.result(), typesInUse: typesInUse.result() };
      yield;
      const spoken = languages.result();
      yield;
      const details = ranking.result();
      return { activeUsers, languages: spoken, connectedNodes, ...counted, ...more, power, details };
    },
  };
}

/** Services that the node can use: enabled, and with no other state than ready. */
function modelsOf({ report }: CountedNode): ReadonlySet<string> {
  const found = new Set<string>();
  for (const { modelId, isEnabled } of report.models) {
    const state = report.serviceStates?.get(modelId) ?? 'ready';
    if (isEnabled && state === 'ready') found.add(modelId);
  }
  return found;
}
