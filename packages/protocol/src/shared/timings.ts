/** Where the time of an utterance was spent. */
import { type Static, Type } from 'typebox';
import { measure, optional } from './bounded.ts';

export const ServiceTimings = Type.Object(
  {
    asr_ms: optional(measure('Speech recognition')),
    nmt_ms: optional(measure('Translation')),
    tts_ms: optional(measure('Speech synthesis')),
    total_ms: optional(measure('All stages')),
  },
  { title: 'ServiceTimings', description: 'Milliseconds per stage' },
);
export type ServiceTimings = Static<typeof ServiceTimings>;

export const NetworkTimings = Type.Object(
  {
    web_to_scheduler_ms: optional(measure('Session to scheduler')),
    scheduler_to_node_ms: optional(measure('Scheduler to node')),
    node_to_scheduler_ms: optional(measure('Node to scheduler')),
    scheduler_to_web_ms: optional(measure('Scheduler to session')),
  },
  { title: 'NetworkTimings', description: 'Milliseconds per hop' },
);
export type NetworkTimings = Static<typeof NetworkTimings>;
