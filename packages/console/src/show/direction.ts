/** Which language was translated into which, as far as it is known. Pure. */
export interface Spoken {
  readonly src_lang?: string | undefined;
  readonly tgt_lang?: string | undefined;
  /** Both languages of a two-way conversation. */
  readonly lang_a?: string | undefined;
  readonly lang_b?: string | undefined;
  readonly detected_language?: string | undefined;
}

/** The languages of the recognised and of the translated text, unless they are unknown. */
export function sidesOf({ src_lang, tgt_lang, lang_a, lang_b, detected_language }: Spoken) {
  if (lang_a === undefined || lang_b === undefined) {
    const isFound = src_lang === 'auto' && detected_language !== undefined;
    return { from: (isFound ? detected_language : src_lang) ?? '?', to: tgt_lang ?? '?' };
  }
  if (detected_language === lang_a) return { from: lang_a, to: lang_b };
  if (detected_language === lang_b) return { from: lang_b, to: lang_a };
  return undefined;
}

export function directionOf(spoken: Spoken): string {
  const sides = sidesOf(spoken);
  if (sides === undefined) return `${spoken.lang_a} ↔ ${spoken.lang_b}`;
  // A job that only recognises.
  return sides.from === sides.to && sides.from !== '?' ? sides.from : `${sides.from} → ${sides.to}`;
}
