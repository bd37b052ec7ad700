/** What a page shows of the captions of a room: which languages, what was said in them, and how late each one is. Pure. */
import type { CaptionView, RoomView } from '@lingua/protocol';

export interface Rendition {
  readonly text: string;
  /** Without a translation it is the speaker's. */
  readonly textLanguage: string;
  readonly isFinal: boolean;
  /** Why there is no translation. */
  readonly errorCode: string | undefined;
  /** From the end of speech until this page had it; undefined: it was said before the page listened. */
  readonly delayMs: number | undefined;
}

export interface Said {
  readonly seq: number;
  readonly speaker: string;
  readonly speakerName: string | undefined;
  readonly startedAt: number;
  /** By language. */
  readonly renditions: ReadonlyMap<string, Rendition>;
}

/** In the order of their numbers. */
export type CaptionLog = readonly Said[];

export interface Delay {
  readonly lastMs: number;
  readonly medianMs: number;
  readonly count: number;
}

const MOST_SAID = 200;

/** `now` and `listeningSince` are times of the server. */
export function addCaption(
  log: CaptionLog,
  caption: CaptionView,
  { now, listeningSince }: { readonly now: number; readonly listeningSince: number },
): CaptionLog {
  const { room_seq: seq, lang } = caption;
  const said = log.find((each) => each.seq === seq) ?? {
    seq,
    speaker: caption.speaker,
    speakerName: caption.speaker_name,
    startedAt: caption.t0,
    renditions: new Map<string, Rendition>(),
  };
  const known = said.renditions.get(lang);
  // After a reconnect the server repeats what may have changed.
  if (known?.isFinal === true) return log;
  const rendition: Rendition = {
    text: caption.text,
    textLanguage: caption.text_lang,
    isFinal: caption.final,
    errorCode: caption.error_code,
    delayMs: caption.t1 >= listeningSince ? Math.max(0, now - caption.t1) : undefined,
  };
  const next = { ...said, renditions: new Map(said.renditions).set(lang, rendition) };
  return [...log.filter((each) => each.seq !== seq), next]
    .sort((one, other) => one.seq - other.seq)
    .slice(-MOST_SAID);
}

/** After which number the captions of a language are asked for again: those that a translation may have corrected meanwhile come, too. */
export function resumeAfter(log: CaptionLog, language: string): number | undefined {
  const own = log.filter(({ renditions }) => renditions.has(language));
  const open = own.find(({ renditions }) => renditions.get(language)?.isFinal === false);
  return open === undefined ? own.at(-1)?.seq : open.seq - 1;
}

/** Of captions that are final and translated, or were spoken in the language. */
export function delayOf(log: CaptionLog, language: string): Delay | undefined {
  const delays = log.flatMap(({ renditions }) => {
    const rendition = renditions.get(language);
    const { delayMs, isFinal, errorCode } = rendition ?? {};
    return delayMs !== undefined && isFinal === true && errorCode === undefined ? delayMs : [];
  });
  const lastMs = delays.at(-1);
  const medianMs = [...delays].sort((one, other) => one - other)[Math.floor((delays.length - 1) / 2)];
  return lastMs === undefined || medianMs === undefined
    ? undefined
    : { lastMs, medianMs, count: delays.length };
}

/** The languages of a room, those that most members hear first. */
export function languagesOf({ members, languages }: Pick<RoomView, 'members' | 'languages'>): string[] {
  const hearers = new Map<string, number>(languages.map((language) => [language, 1]));
  for (const { hears } of members) if (hears !== undefined) hearers.set(hears, (hearers.get(hears) ?? 0) + 1);
  for (const { speaks } of members)
    if (speaks !== undefined && speaks !== 'auto' && !hearers.has(speaks)) hearers.set(speaks, 0);
  return [...hearers]
    .sort(([one, ones], [other, others]) => others - ones || one.localeCompare(other))
    .map(([language]) => language);
}
