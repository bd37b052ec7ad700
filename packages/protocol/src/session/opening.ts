/** The beginning, heartbeats and end of a session. */
import { type Static, Type } from 'typebox';
import { AudioFormat, SampleRate } from '../shared/audio.ts';
import {
  count,
  extension,
  flag,
  id,
  label,
  language,
  list,
  measure,
  optional,
  quantity,
  text,
  traceId,
} from '../shared/bounded.ts';
import { FeatureFlags } from '../shared/feature-flags.ts';
import { glossaryId } from '../shared/glossary.ts';
import { languageMode, streamingAsr } from '../shared/language-mode.ts';
import { extensionMessage, message } from '../shared/message.ts';

/** Target languages of one session. */
export const MAX_TARGETS = 16;

export const SessionInit = message(
  'session_init',
  'First message of a session; answered by session_init_ack',
  {
    client_version: label('Version of the client'),
    platform: label('android, ios, web or api-gateway'),
    src_lang: language('Source language, or `auto`'),
    tgt_lang: language('Target language'),
    dialect: optional(label('Dialect of the speaker')),
    features: optional(FeatureFlags),
    pairing_code: optional(
      label('Pairing codes are not issued: the answer has a warning, and the session opens without one'),
    ),
    tenant_id: optional(id('Tenant; must agree with the credential')),
    ...languageMode,
    ...streamingAsr,
    trace_id: optional(traceId()),
    resume_session_id: extension(
      id('Session to resume; if that is impossible, a new one is opened and the answer has no `resumed`'),
    ),
    resume_token: extension(text('Token from its session_init_ack', 4096)),
    resume_delivery_seq: extension(
      count(
        'Highest delivery_seq received: no other outcome gets a number up to it, even if the scheduler lost its record of them',
      ),
    ),
    supports: extension(
      list(
        id('Ability'),
        64,
        'Extensions that the client supports: result_ack, utterance_accepted, backpressure, server_draining. A client that sends it, even empty, can resume the session; absent: a legacy client, whose session ends with its connection',
      ),
    ),
    audio_format: extension(AudioFormat),
    sample_rate: extension(SampleRate),
    region: extension(id('Region to which the nodes should be near; absent: that of the instance')),
    tgt_langs: extension(
      list(
        language('Target language'),
        MAX_TARGETS,
        'Wanted target languages, each with outcomes of its own, in order per language; then tgt_lang has no effect. Only for clients that support result_ack',
      ),
    ),
    glossary_id: glossaryId,
    voice_langs: extension(
      list(
        language('Target language'),
        MAX_TARGETS,
        'Those of tgt_langs that are spoken, too; each voice is an outcome of its own. Absent: all',
      ),
    ),
  },
);
export type SessionInit = Static<typeof SessionInit>;

export const SessionInitAck = message('session_init_ack', 'The session is open', {
  session_id: id('Id of the session'),
  assigned_node_id: optional(id('Node the session is paired with')),
  message: text('Text for people'),
  trace_id: traceId(),
  protocol_version: label('"1.0"'),
  use_binary_frame: flag('Always false: frames are JSON text'),
  negotiated_codec: optional(label('Codec')),
  negotiated_audio_format: optional(label('Audio format')),
  negotiated_sample_rate: optional(SampleRate),
  negotiated_channel_count: count('Channels; 1'),
  max_message_bytes: extension(
    count(
      'Longest message that this connection accepts, in bytes of UTF-8; a longer one ends the connection. Only for clients that send `supports`',
    ),
  ),
  resume_token: extension(
    text('Proves the right to resume this session; sent once, when it is first opened', 4096),
  ),
  resumed: extension(
    flag(
      'The session continues: numbering and running utterances continue, and unacknowledged outcomes are sent again',
    ),
  ),
  tgt_langs: extension(
    list(
      language('Language'),
      MAX_TARGETS,
      'The wanted languages, as the scheduler names them; each utterance has an outcome for each',
    ),
  ),
  voice_langs: extension(
    list(
      language('Language'),
      MAX_TARGETS,
      'Those that are spoken; each utterance has one more outcome for each',
    ),
  ),
  moved: extension(
    flag(
      'The session continues on another instance: the client sends the audio of each utterance without an outcome again, unchanged, accepted or not; a repeat never creates a second job',
    ),
  ),
});
export type SessionInitAck = Static<typeof SessionInitAck>;

export const ClientHeartbeat = message('client_heartbeat', 'Answered by server_heartbeat', {
  session_id: id('Session'),
  timestamp: measure('Clock of the client (epoch ms)'),
});
export type ClientHeartbeat = Static<typeof ClientHeartbeat>;

export const ServerHeartbeat = message('server_heartbeat', 'Answer to client_heartbeat', {
  session_id: id('Session'),
  timestamp: measure('Clock of the scheduler (epoch ms)'),
});
export type ServerHeartbeat = Static<typeof ServerHeartbeat>;

const fewMillions = { maximum: 1_000_000 };

export const ClientStats = Type.Object(
  {
    results: optional(count('Translations that arrived', fewMillions)),
    missing: optional(count('Utterances without a translation', fewMillions)),
    resumes: optional(count('Times the session continued on a new connection', fewMillions)),
    latency_p50_ms: optional(
      quantity('Median from the end of an utterance to its translation', { maximum: 3_600_000 }),
    ),
    latency_p99_ms: optional(quantity('99th percentile of it', { maximum: 3_600_000 })),
  },
  { title: 'ClientStats', description: 'What the client measured; only counted in metrics' },
);
export type ClientStats = Static<typeof ClientStats>;

export const SessionClose = message(
  'session_close',
  'Ends the session; received audio is still translated, and session_close_ack follows the last outcome',
  {
    session_id: id('Session'),
    reason: text('Why', 4096),
    stats: extension(ClientStats),
  },
);
export type SessionClose = Static<typeof SessionClose>;

export const SessionCloseAck = message('session_close_ack', 'The session has ended', {
  session_id: id('Session'),
});
export type SessionCloseAck = Static<typeof SessionCloseAck>;

export const ServerDraining = extensionMessage(
  'server_draining',
  'For clients that support server_draining: this instance shuts down; send unaccepted audio to the next one. Other clients get PAUSE',
  {
    reconnect_after_ms: count('How long to wait before reconnecting'),
  },
);
export type ServerDraining = Static<typeof ServerDraining>;
