/** Metrics of rooms. Data; joined in ../metrics.ts. */
import type { MetricEntry } from './metric-entry.ts';

export const ROOMS_METRICS = {
  scheduler_rooms: {
    kind: 'gauge',
    help: 'Rooms with members on this instance, or that it ends when they are idle.',
    limits: ['rooms.max_per_tenant'],
  },
  scheduler_room_members: {
    kind: 'gauge',
    help: 'Members and readers of captions on this instance.',
    limits: ['rooms.max_members', 'rooms.max_listed'],
  },
  scheduler_room_utterances_total: {
    kind: 'counter',
    help: 'Utterances of members: accepted, or why not: too_many (without an outcome), store (away), ended (the room).',
    labels: ['outcome'],
    limits: ['rooms.max_open_utterances', 'rooms.max_log_entries'],
  },
  scheduler_room_renditions_total: {
    kind: 'counter',
    help: 'Promised languages of utterances: final, failed, void (not heard any more), late (others did not wait for it).',
    labels: ['outcome'],
    limits: ['rooms.max_languages'],
  },
  scheduler_room_rendition_seconds: {
    kind: 'histogram',
    help: 'Time from the acceptance of an utterance to its outcome in one language.',
  },
  scheduler_room_refusals_total: {
    kind: 'counter',
    help: 'Messages of members that were refused, by code.',
    labels: ['code'],
    limits: ['rooms.max_wrong_codes_per_minute', 'rooms.max_speakers'],
  },
} as const satisfies Record<string, MetricEntry>;
