/** Webhooks: the bodies that the scheduler posts to the receivers in `webhooks.receivers`. */
import { type Static, Type } from 'typebox';
import { anyOf, count, id, label, optional, quantity, text } from './shared/bounded.ts';

/** For a tenant's own receivers. */
export const TENANT_WEBHOOKS = ['job_ended', 'room_ended'] as const;
/** For receivers without a tenant. */
export const OPERATOR_WEBHOOKS = ['node_lost', 'quota_reached'] as const;
export const WEBHOOK_EVENTS = [...TENANT_WEBHOOKS, ...OPERATOR_WEBHOOKS] as const;

export const JobEnded = Type.Object(
  {
    job_id: id('Job'),
    outcome: anyOf(['finished', 'failed', 'cancelled'], 'How it ended'),
    code: optional(label('Error code, if it did not finish')),
    session_id: id('Session'),
    utterance_index: count('Position of the utterance in the session'),
    request_id: optional(id('As sent by the caller')),
    trace_id: optional(label('Trace')),
    src_lang: optional(label('Source language')),
    tgt_lang: optional(label('Target language')),
    audio_ms: optional(quantity('Length of the audio, if it is known')),
    created_at_ms: quantity('When it was accepted (epoch ms)'),
    text_asr: optional(text('What was said; only for receivers with `texts`', 65_536)),
    text_translated: optional(text('Its translation; only for receivers with `texts`', 65_536)),
  },
  { title: 'JobEnded', description: 'A job has its outcome' },
);
export type JobEnded = Static<typeof JobEnded>;

export const EndedRoom = Type.Object(
  {
    room_id: id('Room'),
    reason: anyOf(
      ['ended', 'expired'],
      'ended: by a host or a server; expired: nobody spoke or joined for `rooms.idle_ms`',
    ),
    created_at_ms: quantity('When it was opened (epoch ms)'),
    recorded: Type.Boolean({ description: 'Its transcript is kept' }),
    transcript_until_ms: optional(
      quantity('Of a recorded room: until when its transcript can be read (epoch ms)'),
    ),
  },
  { title: 'EndedRoom', description: 'A room has ended' },
);
export type EndedRoom = Static<typeof EndedRoom>;

export const NodeLost = Type.Object(
  {
    node_id: id('Node'),
    reason: anyOf(
      ['disconnected', 'heartbeat_timeout'],
      'disconnected: its socket closed and it did not come back in time; heartbeat_timeout: it was silent for too long',
    ),
  },
  { title: 'NodeLost', description: 'A node went offline without being drained or removed' },
);
export type NodeLost = Static<typeof NodeLost>;

export const QuotaReached = Type.Object(
  {
    tenant_id: id('Tenant'),
    limit: anyOf(
      ['sessions', 'inflight', 'waiting', 'rate'],
      'sessions: max_sessions; inflight: max_inflight_jobs; waiting: max_waiting; rate: requests_per_second',
    ),
  },
  { title: 'QuotaReached', description: 'A tenant was refused something because of its own limit' },
);
export type QuotaReached = Static<typeof QuotaReached>;

/** `id` is the same in every try: a receiver drops an event whose id it has seen. */
const envelope = {
  id: id('The event; the same in every try'),
  at_ms: quantity('When it happened (epoch ms)'),
};

export const WebhookEvent = Type.Union(
  [
    Type.Object({ ...envelope, type: Type.Literal('job_ended'), tenant_id: id('Tenant'), data: JobEnded }),
    Type.Object({ ...envelope, type: Type.Literal('room_ended'), tenant_id: id('Tenant'), data: EndedRoom }),
    Type.Object({ ...envelope, type: Type.Literal('node_lost'), data: NodeLost }),
    Type.Object({ ...envelope, type: Type.Literal('quota_reached'), data: QuotaReached }),
  ],
  { title: 'WebhookEvent', description: 'Something that happened, posted to a receiver' },
);
export type WebhookEvent = Static<typeof WebhookEvent>;
