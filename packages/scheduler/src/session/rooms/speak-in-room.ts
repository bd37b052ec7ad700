/**
 * Hot path: connects the utterances of sessions with their rooms. To the session a room is a plan with one part, the recognised text; the
 * languages of the room are the concern of the utterance's driver, and go on without the session.
 */
import type { Language } from '../../domain/language.ts';
import type { PlanListener, PlanRequest, PlanRunner, RunningPlan } from '../../domain/plan.ts';
import { utteranceOf } from '../../domain/room-log.ts';
import { sleep } from '../../domain/with-timeout.ts';
import type { AcceptResult } from '../../ports/room-log.ts';
import { promisedLanguages } from './demand.ts';
import type { FollowedRoom } from './followed-room.ts';
import type { RoomDeps } from './room-deps.ts';
import type { RoomTable } from './room-table.ts';
import type { RoomWriter } from './room-writer.ts';

export type Voice =
  | {
      readonly kind: 'speaks';
      readonly language: Language;
      /** Too many of its utterances have no outcome in some language: it must pause. */
      readonly isFull: boolean;
    }
  /** Its speech is not accepted. */
  | { readonly kind: 'silent'; readonly message: string };

const RETRY_MS = 250;
const ENTER_MS = 5_000;
/** Clients pause at the limit; those that do not are refused at so many times the limit. */
const REFUSED_AT = 2;

export function createSpeakInRooms(
  deps: RoomDeps & { readonly writer: RoomWriter; readonly table: RoomTable },
): PlanRunner {
  const { clock, meter, plans, settings, table, writer } = deps;
  const { maxOpenUtterances, maxLanguages } = settings.limits;

  /** While the store is away it is unknown whether the utterance is accepted: it is tried again until it may not wait any more. */
  async function accept(
    followed: FollowedRoom,
    request: PlanRequest,
    isLeft: () => boolean,
  ): Promise<AcceptResult | undefined> {
    const { sessionId, name, fingerprint, source, spec, need, deadlineAt, waitMs } = request;
    const now = clock.now();
    const member = followed.room().members.find(({ memberId }) => memberId === sessionId);
    const channel = member?.channel;
    const wanted = promisedLanguages(
      followed.room(),
      { speaker: sessionId, language: source },
      new Set(),
      maxLanguages,
    );
    const promised = channel !== undefined || deps.canRecogniseFirst(request, wanted) ? undefined : wanted;
    const utterance = {
      utterance: utteranceOf(sessionId, name),
      speaker: sessionId,
      speakerName: member?.name,
      source,
      channel,
      startedAt: now - spokenMs(request),
      acceptedAt: now,
      driver: deps.self(),
      plan: { sessionId, name, fingerprint, source, spec, need, deadlineAt, waitMs },
      promised,
    };
    for (;;) {
      try {
        return await writer.accept(followed.roomId, utterance);
      } catch {
        if (clock.now() - now > waitMs || isLeft()) return undefined;
        await sleep(clock, RETRY_MS);
      }
    }
  }

  async function speak(
    followed: FollowedRoom,
    request: PlanRequest,
    listener: PlanListener,
    isLeft: () => boolean,
  ): Promise<void> {
    const release = followed.local.hold();
    try {
      await speakFollowed(followed, request, listener, isLeft);
    } finally {
      release();
    }
  }

  async function speakFollowed(
    followed: FollowedRoom,
    request: PlanRequest,
    listener: PlanListener,
    isLeft: () => boolean,
  ): Promise<void> {
    const { source, sessionId } = request;
    function refuse(outcome: string, code: string, message: string): void {
      meter.count('scheduler_room_utterances_total', { outcome });
      listener.settled({ language: source, kind: 'text' }, { kind: 'failed', code, message });
    }
    if (followed.driver.openOf(sessionId) >= REFUSED_AT * maxOpenUtterances)
      return refuse(
        'too_many',
        'RATE_LIMITED',
        'too many of your utterances in this room have no outcome yet; wait for one',
      );
    const accepted = await accept(followed, request, isLeft);
    if (accepted === undefined)
      return refuse('store', 'SCHEDULER_DEPENDENCY_DOWN', 'the room could not record the utterance');
    if (accepted.kind === 'gone') return refuse('ended', 'SESSION_CLOSED', 'the room has ended');
    meter.count('scheduler_room_utterances_total', { outcome: 'accepted' });
    listener.admitted();
    if (accepted.accept.driver === deps.self())
      followed.driver.drive(accepted.accept, request.input, listener);
    else {
      followed.awaitText(accepted.accept.seq, listener);
      // The client has sent it again, so it may be lost with its instance. If not, the jobs are found by their request ids.
      const { input } = request;
      if (input.kind === 'audio' && input.audio !== undefined)
        await followed.driveAgain(accepted.accept, input);
    }
  }

  /** A session comes back to its instance before its client enters the room again. False: it did not enter one. */
  async function speakOnceEntered(
    request: PlanRequest,
    listener: PlanListener,
    isLeft: () => boolean,
  ): Promise<boolean> {
    const until = clock.now() + ENTER_MS;
    while (clock.now() < until && !isLeft()) {
      const followed = table.roomOf(request.sessionId);
      if (followed !== undefined) {
        await speak(followed, request, listener, isLeft);
        return true;
      }
      await sleep(clock, RETRY_MS);
    }
    return false;
  }

  return {
    run(request, given): RunningPlan {
      const followed = isOwnText(request) ? table.roomOf(request.sessionId) : undefined;
      if (followed === undefined && !isResumed(request)) return plans.run(request, given);
      let isLeft = false;
      const listener: PlanListener = {
        admitted: () => isLeft || given.admitted(),
        recognised: (text, language) => isLeft || given.recognised(text, language),
        moved: (parts, job) => isLeft || given.moved(parts, job),
        settled: (part, outcome) => isLeft || given.settled(part, outcome),
      };
      let outside: RunningPlan | undefined;
      if (followed !== undefined) void speak(followed, request, listener, () => isLeft);
      else
        void speakOnceEntered(request, listener, () => isLeft).then((isInRoom) => {
          if (!isInRoom && !isLeft) outside = plans.run(request, given);
        });
      // The others hear what is said in a room all the same.
      return {
        cancel(...why) {
          isLeft = true;
          outside?.cancel(...why);
        },
        leave() {
          isLeft = true;
          outside?.leave();
        },
      };
    },
  };
}

/** What a session asks for that is in a room. */
const isOwnText = ({ source, wanted }: PlanRequest): boolean =>
  wanted.length === 1 && wanted[0]?.language === source && !wanted[0].isVoiceWanted;

/** The plan of another instance, which this one continues: its audio comes only if the client sends it again. */
const isResumed = (request: PlanRequest): boolean =>
  isOwnText(request) && request.input.kind === 'audio' && request.input.audio === undefined;

/** Of uncompressed audio; of another format the time of its acceptance is all that is known. */
function spokenMs({ input, spec }: PlanRequest): number {
  if (input.kind !== 'audio' || spec.audioFormat !== 'pcm16' || spec.sampleRate <= 0) return 0;
  return Math.round(((input.audio?.length ?? 0) / 2 / spec.sampleRate) * 1_000);
}
