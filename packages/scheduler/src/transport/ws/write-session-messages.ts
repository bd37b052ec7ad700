/** Hot path: translates a session's output to protocol messages. Pure. */
import type { SchedulerToSession, TranslationResult } from '@lingua/protocol';
import { errorEntry } from '../../domain/errors.ts';
import type { SessionId } from '../../domain/ids.ts';
import type { JobResult } from '../../domain/job-spec.ts';
import type { Language } from '../../domain/language.ts';
import type { About, SessionOutput } from '../../session/output.ts';
import { isOneOfSeveral } from '../../session/session.ts';
import { omitUndefined } from '../wire/omit-undefined.ts';
import { viewQuota } from '../wire/quota-view.ts';

type Output<Kind extends SessionOutput['kind']> = Extract<SessionOutput, { kind: Kind }>;

/** `maxMessageBytes`: what the client may send at once, if it understands the limit. */
export function toSessionMessage(
  sessionId: SessionId,
  output: SessionOutput,
  maxMessageBytes?: number,
): SchedulerToSession {
  switch (output.kind) {
    case 'opened':
      return opened(sessionId, output, maxMessageBytes);
    case 'accepted': {
      const { utterance, quota } = output;
      return {
        type: 'utterance_accepted',
        utterance_index: utterance.index,
        job_id: utterance.jobId,
        ...omitUndefined({
          request_id: utterance.requestId,
          first_seq: utterance.firstSeq,
          last_seq: utterance.lastSeq,
          quota: quota && viewQuota(quota),
        }),
      };
    }
    case 'partial':
      if (output.language !== undefined)
        return {
          type: 'translation_partial',
          ...named(sessionId, output.about),
          tgt_lang: output.language,
          text: output.text,
          revision: output.revision ?? 0,
        };
      return {
        type: 'asr_partial',
        ...named(sessionId, output.about),
        text: output.text,
        is_final: output.isFinal,
        ...omitUndefined({ revision: output.revision }),
      };
    case 'outcome':
      return outcome(sessionId, output);
    case 'ui_event':
      return uiEvent(sessionId, output);
    case 'pressure':
      return {
        type: 'backpressure',
        action: output.action,
        resume_after_ms: output.resumeAfterMs,
        message: PRESSURE[output.action],
      };
    case 'heartbeat':
      return { type: 'server_heartbeat', session_id: sessionId, timestamp: output.at };
    case 'draining':
      return { type: 'server_draining', reconnect_after_ms: output.reconnectAfterMs };
    case 'closed':
      return { type: 'session_close_ack', session_id: sessionId };
    case 'error': {
      const { code, message, details, hint = errorEntry(code).hint } = output;
      return { type: 'error', code, message, details: { ...details, hint } };
    }
  }
}

const PRESSURE = {
  SLOW_DOWN: 'this session sends more than is translated; send less often',
  BUSY: 'all nodes are busy; send less often',
  PAUSE: 'hold audio back until resume_after_ms have passed',
} as const;

const named = (sessionId: SessionId, { index, jobId, traceId, rendition }: About) => ({
  session_id: sessionId,
  utterance_index: index,
  job_id: rendition?.jobId ?? jobId,
  trace_id: traceId,
});

const opened = (
  sessionId: SessionId,
  output: Output<'opened'>,
  maxMessageBytes: number | undefined,
): SchedulerToSession => ({
  type: 'session_init_ack',
  session_id: sessionId,
  message: output.warning ?? (output.isResumed ? 'session resumed' : 'session open'),
  trace_id: output.traceId,
  protocol_version: '1.0',
  use_binary_frame: false,
  negotiated_codec: output.audioFormat,
  negotiated_audio_format: output.audioFormat,
  negotiated_sample_rate: output.sampleRate,
  negotiated_channel_count: 1,
  ...omitUndefined({
    max_message_bytes: maxMessageBytes,
    resume_token: output.resumeToken,
    resumed: output.isResumed ? true : undefined,
    moved: output.hasMoved ? true : undefined,
    tgt_langs: output.targets?.map(({ language }) => language),
    voice_langs: output.targets?.filter(({ isVoiceWanted }) => isVoiceWanted).map(({ language }) => language),
  }),
});

function outcome(sessionId: SessionId, output: Output<'outcome'>): SchedulerToSession {
  const { utterance, outcome: what, deliverySeq } = output.delivered;
  // The client of a whole outcome knows nothing of its parts.
  const rendition = isOneOfSeveral(utterance) ? utterance.rendition : undefined;
  const numbered = output.isNumbered ? { delivery_seq: deliverySeq } : undefined;
  if (what.kind === 'missing') {
    return {
      type: 'missing_result',
      session_id: sessionId,
      utterance_index: utterance.index,
      reason: what.reason,
      created_at_ms: output.sentAt,
      trace_id: utterance.traceId,
      ...(rendition && { tgt_lang: rendition.language }),
      ...(rendition?.kind === 'voice' && { part: 'voice' as const }),
      ...numbered,
    };
  }
  const { result, toNodeMs } = what;
  if (rendition?.kind === 'voice') return voice(sessionId, output, rendition.language, result);
  const network = omitUndefined({
    web_to_scheduler_ms: output.webToSchedulerMs,
    scheduler_to_node_ms: toNodeMs,
  });
  const { group_id: _group, part_index: _part, node_completed_at_ms: _at, ...quality } = result.details ?? {};
  return {
    type: 'translation_result',
    ...named(sessionId, utterance),
    text_asr: result.textAsr,
    text_translated: result.textTranslated,
    tts_audio: result.ttsAudio,
    tts_format: result.ttsFormat,
    // Without a group a legacy client never reports playback.
    group_id: utterance.groupId,
    part_index: utterance.partIndex,
    scheduler_sent_at_ms: output.sentAt,
    ...omitUndefined({
      extra: result.extra,
      service_timings: serviceTimings(result),
      network_timings: Object.keys(network).length === 0 ? undefined : network,
      tgt_lang: rendition?.language,
    }),
    ...quality,
    ...numbered,
  };
}

const voice = (
  sessionId: SessionId,
  { delivered, sentAt }: Output<'outcome'>,
  language: Language,
  result: JobResult,
): SchedulerToSession => ({
  type: 'voice_result',
  ...named(sessionId, delivered.utterance),
  tgt_lang: language,
  tts_audio: result.ttsAudio,
  tts_format: result.ttsFormat,
  group_id: delivered.utterance.groupId,
  part_index: delivered.utterance.partIndex,
  scheduler_sent_at_ms: sentAt,
  ...omitUndefined({ extra: result.extra, service_timings: serviceTimings(result) }),
  delivery_seq: delivered.deliverySeq,
});

/** Legacy nodes report only the total time. */
function serviceTimings({
  extra,
  processingTimeMs,
}: {
  extra?: Readonly<Record<string, unknown>>;
  processingTimeMs?: number;
}): TranslationResult['service_timings'] {
  const reported = extra?.service_timings as TranslationResult['service_timings'];
  return reported ?? (processingTimeMs === undefined ? undefined : { total_ms: processingTimeMs });
}

const uiEvent = (sessionId: SessionId, output: Output<'ui_event'>): SchedulerToSession => ({
  type: 'ui_event',
  ...named(sessionId, output.about),
  event: output.event,
  elapsed_ms: output.elapsedMs,
  ...(output.errorCode === undefined
    ? { status: 'ok' as const }
    : {
        status: 'error' as const,
        error_code: output.errorCode,
        hint: output.hint ?? errorEntry(output.errorCode).hint,
      }),
});
