/** A session as operators see it: never what was said in it. Pure. */
import type { SessionView as SessionReply } from '@lingua/protocol';
import type { SessionView } from '../../../session/session-service.ts';
import { given } from '../../wire/given.ts';

export const viewSession = (session: SessionView): SessionReply =>
  given({
    session_id: session.sessionId,
    tenant_id: session.tenantId,
    // Whoever has ended is not in the list; a step that ends one takes it out of it.
    state: session.phase === 'ended' ? 'closing' : session.phase,
    connected: session.isConnected,
    resumable_until_ms: session.expiresAt,
    deployed: session.isLegacy,
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
