/** Composition root: the settings of rooms. Pure. */
import type { Config } from '../../config/settings.ts';
import type { RoomLogLimits } from '../../ports/room-log.ts';
import type { RoomSettings } from '../../session/rooms/room-deps.ts';

export const roomLogLimits = ({ rooms }: Config): RoomLogLimits => ({
  maxEntries: rooms.max_log_entries,
  maxAgeMs: rooms.log_ttl_ms,
});

export function roomSettings({ rooms, scheduler, privacy }: Config): RoomSettings {
  return {
    limits: {
      maxPerTenant: rooms.max_per_tenant,
      maxMembers: rooms.max_members,
      maxSpeakers: rooms.max_speakers,
      maxLanguages: rooms.max_languages,
      maxListed: rooms.max_listed,
      maxOpenUtterances: rooms.max_open_utterances,
      reorderMs: rooms.reorder_ms,
      unheardMs: rooms.unheard_ms,
      idleMs: rooms.idle_ms,
      awayMs: scheduler.session_resume_ttl_ms,
      interpreterMs: rooms.interpreter_ms,
      keepsNoTexts: !privacy.store_texts,
    },
    retentionMs: rooms.log_ttl_ms,
    hasDigitCodes: rooms.legacy_codes,
    maxWrongCodes: rooms.max_wrong_codes_per_minute,
  };
}
