/** A real server of the instance "a" in a cluster with dead letters. */
import { systemClock } from '../../../src/adapters/system/clock.ts';
import { createClusterReader } from '../../../src/cluster/operators/cluster-reader.ts';
import { createDeadLetterService } from '../../../src/cluster/recovery/dead-letter-service.ts';
import { createInstancesInMemory } from '../../support/instances-in-memory.ts';
import { type StartOptions, startServer } from './start-server.ts';

export const SAID = 'secret words';
export const AUDIO = 'UklGRiQAAABXQVZF';
export const LETTER = `job-1 ${JSON.stringify({
  topic: 'job_result',
  from: 'b',
  body: { jobId: 'job-1', nodeId: 'node-1', result: { textAsr: SAID, ttsAudio: AUDIO, ttsFormat: 'wav' } },
})}`;

export async function startClusterServer({
  maxMessages,
  ...options
}: { readonly maxMessages?: number } & Pick<StartOptions, 'access'> = {}) {
  const clock = systemClock;
  const world = createInstancesInMemory({ clock, ...(maxMessages !== undefined && { maxMessages }) });
  const self = await world.join('a');
  const reader = createClusterReader({
    clock,
    self: () => self,
    figures: () => ({ nodes: 1, sessions: 2, jobs: 3 }),
    store: () => ({ mode: 'single', isOk: true, detail: 'no replicas' }),
    shared: world,
  });
  const deadLetters = createDeadLetterService({
    ...world,
    clock,
    self: () => self,
    isFenced: () => false,
    isKnown: async () => true,
  });
  const server = await startServer({ ...options, services: { cluster: { reader, deadLetters } } });
  const remove = (query: string) => server.call('DELETE', `/api/v1/dead-letters${query}`);
  return { ...world, ...server, lines: server.lines, remove };
}
