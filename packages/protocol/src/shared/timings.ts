/** Where the time of an utterance went. */
import { type Static, Type } from 'typebox';
import { optional, quantity } from './bounded.ts';

export const ServiceTimings = Type.Object(
  {
    asr_ms: optional(quantity('Speech recognition')),
    nmt_ms: optional(quantity('Translation')),
    tts_ms: optional(quantity('Speech synthesis')),
    total_ms: optional(quantity('All stages')),
  },
  { title: 'ServiceTimings', description: 'Milliseconds per stage' },
);
export type ServiceTimings = Static<typeof ServiceTimings>;

/** Differences of two machines' clocks, so they may be negative. */
const hop = (description: string) => optional(quantity(description, { minimum: -Number.MAX_SAFE_INTEGER }));

export const NetworkTimings = Type.Object(
  {
    web_to_scheduler_ms: hop('Session to scheduler'),
    scheduler_to_node_ms: hop('Scheduler to node'),
    node_to_scheduler_ms: hop('Node to scheduler'),
    scheduler_to_web_ms: hop('Scheduler to session'),
  },
  { title: 'NetworkTimings', description: 'Milliseconds per hop' },
);
export type NetworkTimings = Static<typeof NetworkTimings>;
