/** The real session service without a job engine, and clients that open sessions. */
import { createAudioStore } from '../../../src/adapters/memory/audio-store.ts';
import { systemClock } from '../../../src/adapters/system/clock.ts';
import { createIdSource } from '../../../src/adapters/system/id-source.ts';
import { createLog } from '../../../src/adapters/system/log.ts';
import { sessionSettings } from '../../../src/app/settings/settings-from-config.ts';
import { readLanguages } from '../../../src/domain/needed-directions.ts';
import { createSessionService } from '../../../src/session/create-session-service.ts';
import type { SessionLink } from '../../../src/session/output.ts';
import { NO_POOLS } from '../../../src/session/speech/preferred-pool.ts';
import { configOf } from '../../config/loaded.ts';

const SILENT: SessionLink = { send: () => {}, replaced: () => {}, abandoned: () => {} };
const NOTHING = { count: () => {}, gauge: () => {}, observe: () => {} };
const TWO_WAY = {
  src_lang: 'auto',
  tgt_lang: 'en',
  mode: 'two_way_auto',
  lang_a: 'zh',
  lang_b: 'en',
} as const;

export function openSessions() {
  const clock = systemClock;
  const sessions = createSessionService({
    clock,
    chance: () => 0,
    ids: createIdSource({ clock, digestsRequests: false }),
    audio: createAudioStore({ maxBytes: 1_000_000, maxBytesPerJob: 1_000_000 }),
    meter: NOTHING,
    log: createLog('silent'),
    jobs: {
      // No slot ever becomes free.
      dispatch: () => new Promise(() => {}),
      cancel: async () => undefined,
      waiting: () => 0,
    },
    plans: {
      run: () => {
        throw new Error('no session here has several languages');
      },
    },
    pools: NO_POOLS,
    settings: sessionSettings(configOf('')),
  });
  const links = new Map<string, SessionLink>();

  return {
    sessions,
    open(tenantId: string, { canResume = false } = {}): string {
      const read = readLanguages(TWO_WAY);
      if (read.kind === 'invalid') throw new Error(read.message);
      const link = { ...SILENT };
      const opened = sessions.open(
        {
          tenantId,
          credential: 'c',
          abilities: canResume ? new Set(['result_ack']) : undefined,
          speech: { languages: read.languages, mode: TWO_WAY.mode, audioFormat: 'pcm16', sampleRate: 16_000 },
          traceId: 'trace-1',
          platform: 'web',
        },
        link,
      );
      if (opened instanceof Promise || opened.kind !== 'opened') throw new Error('the session table is full');
      links.set(opened.sessionId, link);
      return opened.sessionId;
    },
    leave(sessionId: string): void {
      sessions.left(sessionId, links.get(sessionId) ?? SILENT);
    },
    say(sessionId: string, audio: Buffer, isFinal = false): void {
      sessions.receive(sessionId, 'c', { kind: 'chunk', seq: 1, audio, isFinal, requestId: 'req-1' });
    },
  };
}
