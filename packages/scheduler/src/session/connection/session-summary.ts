/** Cold path: the summary of a session for operators. Pure. */
import { isLegacy, type Session } from '../session.ts';
import type { SessionView } from '../session-service.ts';

export const summarize = (session: Session): SessionView => ({
  sessionId: session.sessionId,
  tenantId: session.tenantId,
  openedAt: session.openedAt,
  isConnected: session.link !== undefined,
  isLegacy: isLegacy(session),
  platform: session.opening.platform,
  source: session.opening.speech.languages.source,
  target: session.opening.speech.languages.target,
  mode: session.opening.speech.mode,
  languageA: session.opening.speech.languages.a,
  languageB: session.opening.speech.languages.b,
  nextIndex: session.nextIndex,
  deliverySeq: session.delivery.deliverySeq,
  running: session.running,
  pending: session.delivery.pending.count,
  kept: session.delivery.kept.length,
  audioBytes: session.audioBytes,
  phase: session.phase,
  expiresAt: session.expiresAt,
});
