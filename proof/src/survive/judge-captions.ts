/** The captions that each person got, compared with the log of the room: every promised rendition once, in order. Pure. */
import type { CaptionView } from '@lingua/protocol';

/** A caption as the SDK emitted it. */
export interface Heard {
  readonly seq: number;
  readonly text: string;
  readonly isFinal: boolean;
  /** When the speech ended, and when the caption came (epoch ms). */
  readonly endedAt: number;
  readonly at: number;
}

/** Setting rooms.reorder_ms: later captions wait so long for one whose speech is not recognised yet. Then it comes behind them. */
const REORDER_MS = 1_500;

export interface Listener {
  readonly name: string;
  readonly language: string;
  /** In the order in which they came. */
  readonly heard: readonly Heard[];
  /** Utterances of its own for which it got a recognised text. */
  readonly recognised: number;
}

export interface LanguageVerdict {
  readonly language: string;
  readonly listeners: number;
  /** For each listener: the utterances of the others in the log. */
  readonly promised: number;
  /** With the text that the log has, once. */
  readonly received: number;
  readonly lost: number;
  readonly doubled: number;
  /** Behind a later one that has not waited for it as long as it should. */
  readonly outOfOrder: number;
  /** Behind later ones that have waited for it. */
  readonly overtaken: number;
  /** With another text than the log has, or not in the log. */
  readonly wrong: number;
  /** First shown in the language of the speaker. */
  readonly corrected: number;
  /** The outcome is that there is no translation: the text stays in the language of the speaker. */
  readonly failed: number;
}

export interface RoomVerdict {
  readonly languages: readonly LanguageVerdict[];
  /** Who has lost captions, and which: "name: numbers". */
  readonly lostBy: readonly string[];
  /** Recognised for their speakers, and not in the log. */
  readonly unlogged: number;
  readonly isFaultless: boolean;
}

/** `log`: of each language that is heard. */
export function judgeCaptions(
  listeners: readonly Listener[],
  log: ReadonlyMap<string, readonly CaptionView[]>,
): RoomVerdict {
  const languages = [...log].map(([language, captions]) => {
    const verdicts = listeners
      .filter((listener) => listener.language === language)
      .map((listener) => judgeListener(listener, captions));
    const sum = (read: (verdict: ListenerVerdict) => number): number =>
      verdicts.reduce((total, verdict) => total + read(verdict), 0);
    return {
      language,
      listeners: verdicts.length,
      promised: sum(({ promised }) => promised),
      received: sum(({ received }) => received),
      lost: sum(({ lost }) => lost),
      doubled: sum(({ doubled }) => doubled),
      outOfOrder: sum(({ outOfOrder }) => outOfOrder),
      overtaken: sum(({ overtaken }) => overtaken),
      wrong: sum(({ wrong }) => wrong),
      corrected: sum(({ corrected }) => corrected),
      failed: sum(({ failed }) => failed),
    };
  });
  const [[, logged = []] = []] = log;
  const unlogged = listeners.reduce((total, { name, recognised }) => {
    const own = logged.filter(({ speaker_name }) => speaker_name === name).length;
    return total + Math.max(0, recognised - own);
  }, 0);
  const isFaultless = languages.every(
    ({ lost, doubled, outOfOrder, wrong }) => lost + doubled + outOfOrder + wrong === 0,
  );
  return { languages, lostBy: lostBy(listeners, log), unlogged, isFaultless: isFaultless && unlogged === 0 };
}

const lostBy = (listeners: readonly Listener[], log: ReadonlyMap<string, readonly CaptionView[]>): string[] =>
  listeners.flatMap(({ name, language, heard }) => {
    const finals = new Set(heard.filter(({ isFinal }) => isFinal).map(({ seq }) => seq));
    const lost = (log.get(language) ?? [])
      .filter(({ speaker_name, room_seq }) => speaker_name !== name && !finals.has(room_seq))
      .map(({ room_seq }) => room_seq);
    return lost.length === 0 ? [] : `${name}: ${lost.join(' ')}`;
  });

type ListenerVerdict = Omit<LanguageVerdict, 'language' | 'listeners'>;

function judgeListener({ name, heard }: Listener, log: readonly CaptionView[]): ListenerVerdict {
  const promised = new Map(
    log.filter(({ speaker_name }) => speaker_name !== name).map((caption) => [caption.room_seq, caption]),
  );
  const shown = new Map<number, Heard[]>();
  let [outOfOrder, overtaken, wrong] = [0, 0, 0];
  for (const caption of heard) {
    const earlier = shown.get(caption.seq);
    if (earlier !== undefined) {
      earlier.push(caption);
      continue;
    }
    const later = [...shown].filter(([seq]) => seq > caption.seq).map(([, [first]]) => first?.at ?? 0);
    if (later.some((at) => at < caption.endedAt + REORDER_MS)) outOfOrder += 1;
    else if (later.length > 0) overtaken += 1;
    shown.set(caption.seq, [caption]);
    if (!promised.has(caption.seq)) wrong += 1;
  }
  let [received, lost, doubled, corrected, failed] = [0, 0, 0, 0, 0];
  for (const [seq, { text, error_code }] of promised) {
    const all = shown.get(seq) ?? [];
    const finals = all.filter(({ isFinal }) => isFinal);
    if (error_code !== undefined) failed += 1;
    if (all[0]?.isFinal === false) corrected += 1;
    if (finals.length === 0) lost += 1;
    // At most one that is not final, before the final one.
    else if (finals.length > 1 || all.length > 2 || all.at(-1)?.isFinal === false) doubled += 1;
    else if (finals[0]?.text !== text) wrong += 1;
    else received += 1;
  }
  return {
    promised: promised.size,
    received,
    lost,
    doubled,
    outOfOrder,
    overtaken,
    wrong,
    corrected,
    failed,
  };
}
