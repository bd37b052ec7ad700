/**
 * R1: of each utterance a member gets one caption in its language, or one and its correction, in the order of the room; all members
 * get the same. R4: a member that hears the language that was spoken gets what was said. Pure.
 */
import { nameOf } from '../../../../packages/simulation/dist/history.js';
import type { Facts } from '../facts.ts';
import { createSpans } from '../spans.ts';
import type { Allowances, Finding, Invariant, Violation } from '../violation.ts';
import type { Excuses } from './excuses.ts';
import {
  type Caption,
  type Hearing,
  type Presence,
  type RoomStories,
  type RoomStory,
  readyAt,
  type Utterance,
} from './room-stories.ts';

const RENUMBERED = 'utterances in rooms numbered again after a failover';
/** By design: a session that cannot be resumed says again what has no outcome. */
const SAID_AGAIN = 'utterances in rooms said again by another session';
const CHANGED = 'captions changed by a failover';
const UNHEARD = 'captions that stayed untranslated because their language was unheard';
/** Once a second an instance looks for languages that are not heard. */
const TICK_MS = 1_000;
const OVERTAKEN = 'captions that came late and were overtaken';

export function checkCaptions(
  { seen }: Pick<Facts, 'seen'>,
  { rooms, saidIn }: RoomStories,
  excuses: Pick<Excuses, 'isLost'>,
  { reorderMs, unheardMs }: Pick<Allowances, 'reorderMs' | 'unheardMs'>,
): Finding {
  const violations: Violation[] = [];
  const counts = {
    captions: 0,
    [RENUMBERED]: 0,
    [SAID_AGAIN]: 0,
    [CHANGED]: 0,
    [OVERTAKEN]: 0,
    [UNHEARD]: 0,
    'captions without a translation': 0,
  };
  let [order, own] = [0, 0];
  const found = (invariant: Invariant, { at, client, room }: Caption, message: string): void => {
    violations.push({
      invariant,
      at,
      message: `${client} in room ${room} ${message}`,
      about: [client, room],
    });
  };

  const askedAtOf = ({ result, at }: Caption): number => saidIn.get(result.words)?.utterance.askedAt ?? at;

  /** What it says, and by whom it was made. */
  function checkContent(caption: Caption): void {
    const { language, result, isFinal, missing, at } = caption;
    const utterance = saidIn.get(result.words)?.utterance;
    counts.captions += 1;
    if (utterance === undefined) {
      found('R1 one rendition', caption, `got "${result.words}", which nobody has said`);
      return;
    }
    const { steps = [] } = result;
    const unmade = steps.find((step) => seen.doneBy(step, at) === undefined);
    if (unmade !== undefined)
      found(
        'R1 one rendition',
        caption,
        `got ${label(caption)} of ${nameOf(unmade)}, which ${unmade.node} never finished`,
      );
    const isTranslated = steps.some(({ stages }) => stages.includes('nmt'));
    if (utterance.language === language) {
      own += 1;
      if (isTranslated)
        found(
          'R4 own language',
          caption,
          `got a translation of ${label(caption)}, which was said in ${language}`,
        );
    } else if (missing !== undefined) counts['captions without a translation'] += 1;
    else if (isFinal && !isTranslated && wasUnheard(caption, utterance)) counts[UNHEARD] += 1;
    else if (isFinal && (!isTranslated || steps.at(-1)?.to !== language))
      found('R1 one rendition', caption, `got ${label(caption)} in ${steps.at(-1)?.to ?? 'no language'}`);
  }

  /** By design a language that no other member heard for that long is not translated, and a late caption in it stays as it is. */
  function wasUnheard({ room: name, language, at }: Caption, { client, askedAt }: Utterance): boolean {
    const hearings = (rooms.find(({ room }) => room === name)?.hearings ?? []).filter(
      (each) => each.client !== client && each.language === language,
    );
    const heard = createSpans(hearings);
    for (let from = askedAt; from <= at; ) {
      const span = heard.find(from);
      const next = Math.min(at, ...hearings.flatMap((each) => (each.from > from ? each.from : [])));
      if (span === undefined && next - from >= unheardMs - TICK_MS) return true;
      from = span === undefined ? next + 1 : span.to + 1;
    }
    return false;
  }

  function checkPresence(room: RoomStory, { language }: Hearing, { captions }: Presence): void {
    const received = new Map<number, Caption>();
    let highest: Caption | undefined;
    for (const caption of captions) {
      order += 1;
      if (caption.language !== language)
        found(
          'R1 one rendition',
          caption,
          `got ${label(caption)} in ${caption.language} and hears ${language}`,
        );
      const before = received.get(caption.seq);
      received.set(caption.seq, caption);
      if (before !== undefined) {
        if (before.isFinal || !caption.isFinal)
          found('R1 one rendition', caption, `got ${label(caption)} again`);
        continue;
      }
      if (highest === undefined || caption.seq > highest.seq) highest = caption;
      else if (mayOvertake(room, caption, firstAfter(captions, caption.seq))) counts[OVERTAKEN] += 1;
      else found('R1 one rendition', caption, `got ${label(caption)} after ${label(highest)}`);
    }
  }

  /** By design a language passes an utterance without a text when a later one has been ready for that long. */
  function mayOvertake(room: RoomStory, { seq }: Caption, overtaking: Caption | undefined): boolean {
    if (overtaking === undefined) return false;
    const waitedSince = overtaking.at - reorderMs;
    return [...room.utterances.values()].some((other) => {
      const isLater = other.captions.some((caption) => caption.seq > seq);
      return isLater && readyAt(other) <= waitedSince;
    });
  }

  /** One number, one utterance; one rendition, one text. */
  function checkSameForAll({ captions }: RoomStory): void {
    const bySeq = new Map<number, Caption>();
    const byWords = new Map<string, Caption>();
    const finals = new Map<string, Caption>();
    for (const caption of captions) {
      const { seq, result, language, isFinal } = caption;
      const numbered = bySeq.get(seq);
      if (numbered === undefined) bySeq.set(seq, caption);
      else if (numbered.result.words !== result.words)
        found(
          'R5 log survives',
          caption,
          `got ${label(caption)}, and ${numbered.client} got ${label(numbered)}`,
        );
      const named = byWords.get(result.words);
      if (named === undefined) byWords.set(result.words, caption);
      else if (named.seq !== seq) {
        if (named.speaker !== caption.speaker) counts[SAID_AGAIN] += 1;
        else if (excuses.isLost(askedAtOf(caption), caption.at)) counts[RENUMBERED] += 1;
        else
          found(
            'R1 one rendition',
            caption,
            `got ${label(caption)}, and ${named.client} got it as ${named.seq}`,
          );
      }
      if (!isFinal) continue;
      const key = `${seq} ${language}`;
      const before = finals.get(key);
      if (before === undefined) finals.set(key, caption);
      else if (signatureOf(before) !== signatureOf(caption)) {
        if (excuses.isLost(askedAtOf(caption), caption.at)) counts[CHANGED] += 1;
        else
          found(
            'R1 one rendition',
            caption,
            `got ${label(caption)} as ${signatureOf(caption)}, and ${before.client} got ${signatureOf(before)}`,
          );
      }
    }
  }

  for (const room of rooms) {
    for (const caption of room.captions) checkContent(caption);
    for (const hearing of room.hearings)
      for (const presence of hearing.presences) checkPresence(room, hearing, presence);
    checkSameForAll(room);
  }
  return { violations, counts, judged: { 'R1 one rendition': order, 'R4 own language': own } };
}

/** The first caption that came before it although its number is higher. */
const firstAfter = (captions: readonly Caption[], seq: number): Caption | undefined =>
  captions.find((other) => other.seq > seq);

const label = ({ seq, result, isFinal }: Caption): string =>
  `caption ${seq} ("${result.words}"${isFinal ? '' : ', to be corrected'})`;

const signatureOf = ({ result, missing }: Caption): string =>
  missing ?? (result.by === undefined ? 'no run' : `${nameOf(result.by)} of ${result.by.node}`);
