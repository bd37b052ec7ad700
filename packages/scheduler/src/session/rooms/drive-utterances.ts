/**
 * Hot path: the driver of a room's utterances. Runs the plan of each, appends its text with the promised languages, then each outcome. A plan
 * outlives its speaker: only the demand of listeners ends it early.
 */
import { AUTO, foldLanguage, type Language } from '../../domain/language.ts';
import type {
  PartOutcome,
  PlanInput,
  PlanListener,
  PlanPart,
  PlanRequest,
  RunningPlan,
  WantedTarget,
} from '../../domain/plan.ts';
import type { MemberId, RoomId, RoomRecord } from '../../domain/room.ts';
import type { LoggedEntry, RoomEntry } from '../../domain/room-log.ts';
import { heardLanguages, promisedLanguages } from './demand.ts';
import type { RoomDeps } from './room-deps.ts';
import type { LoggedUtterance } from './room-router.ts';
import type { RoomWriter } from './room-writer.ts';

type Accepted = Extract<LoggedEntry, { kind: 'accept' }>;
type Text = Extract<LoggedEntry, { kind: 'text' }>;

interface Driven {
  readonly accept: Accepted;
  readonly speaker: PlanListener | undefined;
  /** The languages without an outcome, and since when each is unheard. */
  readonly open: Map<Language, number | undefined>;
  readonly plans: RunningPlan[];
  hasText: boolean;
  /** Its text is in the log, with the languages that it is promised in. */
  isPromised: boolean;
  isOver: boolean;
}

export interface UtteranceDriver {
  /** `speaker`: gets the recognised text; absent: the utterance was taken over. */
  drive(accept: Accepted, input: PlanInput, speaker?: PlanListener): void;
  /** Continues the utterance of a dead driver: its jobs are found by their request ids. */
  takeOver(utterance: LoggedUtterance): void;
  /** Utterances of this speaker that have no outcome in some language. */
  openOf(speaker: MemberId): number;
  /** The plans end that serve languages without listeners for too long (R3). */
  endUnheard(at: number): void;
  size(): number;
  /** Its jobs go on; nothing more is appended by this instance. */
  leave(): void;
}

export function createUtteranceDriver(
  deps: RoomDeps & {
    readonly roomId: RoomId;
    readonly writer: RoomWriter;
    readonly room: () => RoomRecord | undefined;
    /** Languages into which interpreters speak now. */
    readonly interpreted: () => ReadonlySet<Language>;
  },
): UtteranceDriver {
  const { clock, meter, plans, roomId, writer, settings } = deps;
  const { maxLanguages, unheardMs } = settings.limits;
  const driven = new Map<number, Driven>();

  function begin(accept: Accepted, speaker: PlanListener | undefined): Driven {
    const mine: Driven = {
      accept,
      speaker,
      open: new Map(),
      plans: [],
      hasText: false,
      isPromised: false,
      isOver: false,
    };
    driven.set(accept.seq, mine);
    return mine;
  }

  function run(
    mine: Driven,
    input: PlanInput,
    source: Language,
    wanted: readonly WantedTarget[],
    on: Omit<PlanListener, 'admitted'>,
  ): void {
    const tenantId = deps.room()?.tenantId;
    if (tenantId === undefined || wanted.length === 0) {
      endIfDone(mine);
      return;
    }
    const request: PlanRequest = { ...mine.accept.plan, tenantId, input, source, wanted };
    mine.plans.push(
      plans.run(request, {
        ...on,
        admitted() {},
        settled(part, outcome) {
          if (mine.isOver) return;
          on.settled(part, outcome);
          endIfDone(mine);
        },
      }),
    );
  }

  function endIfDone(mine: Driven): void {
    if (mine.open.size === 0 && mine.isPromised) driven.delete(mine.accept.seq);
  }

  async function append(entry: RoomEntry): Promise<LoggedEntry | undefined> {
    const standing = await writer.append(roomId, entry);
    if (standing !== 'gone') return standing;
    const mine = driven.get(entry.seq);
    if (mine !== undefined) end(mine);
    return undefined;
  }

  function end(mine: Driven): void {
    mine.isOver = true;
    for (const plan of mine.plans) plan.cancel('the room has ended', 'JOB_CANCELLED');
    driven.delete(mine.accept.seq);
  }

  /** The recogniser alone, so that the languages are promised only when the text is known. */
  function recognise(mine: Driven, input: PlanInput): void {
    const { source } = mine.accept;
    const moved: PlanListener['moved'] = (_parts, job) => mine.speaker?.moved([ownPart(source)], job);
    let recognised: { text: string; language: Language } | undefined;
    run(mine, input, source, [{ language: source, isVoiceWanted: false }], {
      moved,
      recognised(text, language) {
        recognised = { text, language };
        mine.speaker?.recognised(text, language);
        void noteText(mine, text, language);
      },
      settled(_part, outcome) {
        if (recognised !== undefined) {
          tellSpeaker(mine, recognised.text, outcome);
          return;
        }
        const language = languageOf(outcome, source);
        if (outcome.kind === 'failed' || language === undefined) {
          mine.speaker?.settled(ownPart(source), outcome);
          void noteText(mine, '', source, outcome.kind === 'failed' ? outcome.code : 'PROCESSING_ERROR');
          return;
        }
        const { textAsr, textTranslated } = outcome.result;
        tellSpeaker(mine, textAsr || textTranslated, outcome);
        void noteText(mine, textAsr || textTranslated, language);
      },
    });
  }

  function tellSpeaker(mine: Driven, text: string, outcome?: PartOutcome): void {
    const result = { textAsr: text, textTranslated: text, ttsAudio: '', ttsFormat: '' };
    const extra = outcome?.kind === 'result' ? outcome.result.extra : undefined;
    mine.speaker?.settled(ownPart(mine.accept.source), {
      kind: 'result',
      result: { ...result, ...(extra !== undefined && { extra }) },
      job: outcome?.job,
    });
  }

  async function noteText(mine: Driven, text: string, language: Language, failed?: string): Promise<void> {
    const { accept } = mine;
    if (mine.hasText || mine.isOver) return;
    mine.hasText = true;
    const room = deps.room();
    const isEmpty = text === '' || room === undefined;
    const promised =
      accept.promised ??
      (isEmpty ? [] : promisedLanguages(room, { ...accept, language }, deps.interpreted(), maxLanguages));
    const standing = await append({
      kind: 'text',
      seq: accept.seq,
      text,
      language,
      promised,
      ...(failed !== undefined && { failed }),
    });
    if (standing?.kind !== 'text' || mine.isOver) {
      driven.delete(accept.seq);
      return;
    }
    mine.isPromised = true;
    if (accept.promised === undefined) translate(mine, standing, standing.promised);
    else endIfDone(mine);
  }

  function translate(mine: Driven, { text, language }: Text, wanted: readonly WantedTarget[]): void {
    for (const target of wanted) mine.open.set(target.language, undefined);
    run(mine, { kind: 'text', text }, language, wanted, {
      moved() {},
      recognised() {},
      settled: (part, outcome) => settlePart(mine, part, outcome),
    });
  }

  /** Each language is one whole job, and the languages were promised at the acceptance. */
  function runWhole(mine: Driven, input: PlanInput, wanted: readonly WantedTarget[]): void {
    const { source } = mine.accept;
    for (const target of wanted) mine.open.set(target.language, undefined);
    let left = wanted.length;
    function know(text: string, language: Language, outcome?: PartOutcome): void {
      if (mine.hasText) return;
      mine.speaker?.recognised(text, language);
      tellSpeaker(mine, text, outcome);
      void noteText(mine, text, language);
    }
    run(mine, input, source, wanted, {
      moved: (_parts, job) => mine.speaker?.moved([ownPart(source)], job),
      recognised: (text, language) => know(text, language),
      settled(part, outcome) {
        if (part.kind === 'text') left -= 1;
        if (outcome.kind === 'result' && part.kind === 'text')
          know(outcome.result.textAsr, languageOf(outcome, source) ?? source, outcome);
        if (outcome.kind === 'failed' && left === 0 && !mine.hasText) {
          mine.speaker?.settled(ownPart(source), outcome);
          void noteText(mine, '', source, outcome.code);
        }
        settlePart(mine, part, outcome);
      },
    });
    if (wanted.length > 0) return;
    mine.speaker?.settled(ownPart(source), NOBODY_HEARS);
    void noteText(mine, '', source, NOBODY_HEARS.code);
  }

  function settlePart(mine: Driven, { language, kind }: PlanPart, outcome: PartOutcome): void {
    const { seq } = mine.accept;
    if (kind === 'voice') {
      if (outcome.kind === 'result' && outcome.job !== undefined && outcome.result.ttsAudio !== '')
        void append({ kind: 'voice', seq, language, jobId: outcome.job.jobId });
      return;
    }
    if (!mine.open.delete(language)) return;
    const text = outcome.kind === 'result' ? outcome.result.textTranslated : '';
    const code = outcome.kind === 'failed' ? outcome.code : 'NO_RESULT';
    const settled = text === '' ? ({ kind: 'failed', code } as const) : ({ kind: 'final', text } as const);
    const seconds = (clock.now() - mine.accept.acceptedAt) / 1_000;
    meter.count('scheduler_room_renditions_total', { outcome: settled.kind });
    meter.observe('scheduler_room_rendition_seconds', seconds);
    void append({ kind: 'outcome', seq, language, outcome: settled });
  }

  return {
    drive(accept, input, speaker) {
      const mine = begin(accept, speaker);
      if (accept.promised === undefined) recognise(mine, input);
      else runWhole(mine, input, accept.promised);
    },
    takeOver({ accept, text, outcomes }) {
      if (accept === undefined || driven.has(accept.seq)) return;
      const mine = begin(accept, undefined);
      const isWanted = ({ language }: WantedTarget) => !outcomes.has(language);
      const audio: PlanInput = { kind: 'audio', source: { kind: 'held', bytes: 0 }, audio: undefined };
      mine.hasText = text !== undefined;
      mine.isPromised = mine.hasText;
      if (accept.promised !== undefined) return runWhole(mine, audio, accept.promised.filter(isWanted));
      if (text === undefined) return recognise(mine, audio);
      translate(mine, text, text.promised.filter(isWanted));
    },
    openOf(speaker) {
      let count = 0;
      for (const { accept } of driven.values()) if (accept.speaker === speaker) count += 1;
      return count;
    },
    endUnheard(at) {
      const room = deps.room();
      if (room === undefined) return;
      for (const mine of driven.values()) {
        const heard = heardLanguages(room, mine.accept.speaker);
        for (const [language, since] of mine.open) {
          const isEnding = !heard.has(language) && since !== undefined && since + unheardMs <= at;
          mine.open.set(language, heard.has(language) ? undefined : (since ?? at));
          if (isEnding) endLanguage(mine, language);
        }
      }
    },
    size: () => driven.size,
    leave() {
      for (const mine of driven.values()) {
        mine.isOver = true;
        for (const plan of mine.plans) plan.leave();
      }
      driven.clear();
    },
  };

  function endLanguage(mine: Driven, language: Language): void {
    const { seq } = mine.accept;
    mine.open.delete(language);
    for (const plan of mine.plans)
      for (const kind of ['text', 'voice'] as const)
        plan.cancel('no member of the room hears the language any more', 'JOB_CANCELLED', { language, kind });
    meter.count('scheduler_room_renditions_total', { outcome: 'void' });
    void append({ kind: 'outcome', seq, language, outcome: { kind: 'void' } });
    endIfDone(mine);
  }
}

const ownPart = (source: Language): PlanPart => ({ language: source, kind: 'text' });

function languageOf(outcome: PartOutcome, source: Language): Language | undefined {
  if (outcome.kind === 'failed') return undefined;
  if (source !== AUTO) return source;
  const detected = outcome.result.details?.detected_language;
  return typeof detected === 'string' ? foldLanguage(detected) : undefined;
}

const NOBODY_HEARS = {
  kind: 'failed',
  code: 'NO_CAPABLE_NODE',
  message: 'no other member hears a language, and no node recognises speech without translating it',
} as const;
