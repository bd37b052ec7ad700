/** Prints a session for operators, without its texts. Pure. */
import type { SessionView as SessionReply } from '@lingua/protocol';
import type { SessionView } from '../../../session/session-service.ts';
import { omitUndefined } from '../../wire/omit-undefined.ts';

export const viewSession = (session: SessionView): SessionReply =>
  omitUndefined({
    session_id: session.sessionId,
    tenant_id: session.tenantId,
    // An ended session is not in the list: the step that ends it removes it.
    state: session.phase === 'ended' ? 'closing' : session.phase,
    connected: session.isConnected,
    resumable_until_ms: session.expiresAt,
    legacy: session.isLegacy,
    platform: session.platform,
    src_lang: session.source,
    tgt_lang: session.target,
    mode: session.mode,
    lang_a: session.languageA,
    lang_b: session.languageB,
    next_utterance_index: session.nextIndex,
    last_delivery_seq: session.deliverySeq,
    running_utterances: session.running,
    pending_results: session.pending,
    kept_results: session.kept,
    audio_bytes: session.audioBytes,
    opened_at_ms: session.openedAt,
  });
