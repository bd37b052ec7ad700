/** Which captions the application has, so that none is emitted twice after a reconnect, and from where the next ones are asked for. */

/** More than a scheduler repeats. */
const MOST = 512;

export interface CaptionMemory {
  /** False: the application has it. */
  note(language: string, seq: number, isFinal: boolean): boolean;
  /** Captions up to this number are not kept any more. */
  missed(to: number): void;
  /** For room_join. Undefined: no caption came yet. */
  afterSeq(): number | undefined;
}

export function createCaptionMemory(): CaptionMemory {
  /** Whether it was final. */
  const seen = new Map<string, { seq: number; isFinal: boolean }>();
  let last: number | undefined;
  return {
    note(language, seq, isFinal) {
      const key = `${language} ${seq}`;
      const known = seen.get(key);
      if (known !== undefined && (known.isFinal || !isFinal)) return false;
      seen.set(key, { seq, isFinal });
      const [oldest] = seen.keys();
      if (seen.size > MOST && oldest !== undefined) seen.delete(oldest);
      last = Math.max(last ?? 0, seq);
      return true;
    },
    missed(to) {
      last = Math.max(last ?? 0, to);
    },
    afterSeq() {
      if (last === undefined) return undefined;
      // The translation of an open caption may have come meanwhile.
      const open = [...seen.values()].filter(({ isFinal }) => !isFinal).map(({ seq }) => seq - 1);
      return Math.min(last, ...open);
    },
  };
}
