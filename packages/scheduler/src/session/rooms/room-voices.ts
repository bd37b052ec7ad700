/** Hot path: the spoken translations of one room, to the members of this instance that want them, in the order of the utterances. */
import type { Language } from '../../domain/language.ts';
import type { RoomRecord } from '../../domain/room.ts';
import type { LoggedEntry } from '../../domain/room-log.ts';
import type { LocalMembers } from './local-members.ts';
import type { RoomDeps } from './room-deps.ts';
import type { LoggedUtterance } from './room-router.ts';

type Voice = Extract<LoggedEntry, { kind: 'voice' }>;

export function createRoomVoices(
  deps: Pick<RoomDeps, 'log' | 'voiceOf'> & {
    readonly local: LocalMembers;
    /** Undefined: this instance does not follow it any more. */
    readonly room: () => RoomRecord | undefined;
  },
) {
  const { local, log } = deps;
  const spokenUpTo = new Map<Language, number>();
  let sent: Promise<void> = Promise.resolve();

  async function send({ seq, language, jobId }: Voice, speaker: string): Promise<void> {
    try {
      const voice = await deps.voiceOf(jobId);
      const code = deps.room()?.code;
      if (voice !== undefined && code !== undefined)
        local.voice({ kind: 'voice', code, seq, speaker, language, ...voice });
    } catch (fault) {
      log.warn({ job_id: jobId, err: fault }, 'could not read speech of a room');
    }
  }

  return {
    note(entry: Voice, utterance: LoggedUtterance | undefined): void {
      const { seq, language } = entry;
      const speaker = utterance?.accept?.speaker;
      // A corrected caption is not spoken, and an earlier utterance not after a later one.
      if (speaker === undefined || utterance?.late.has(language) || seq <= (spokenUpTo.get(language) ?? 0))
        return;
      if (!local.hasVoiceHearer(language, speaker)) return;
      spokenUpTo.set(language, seq);
      sent = sent.then(() => send(entry, speaker));
    },
  };
}
