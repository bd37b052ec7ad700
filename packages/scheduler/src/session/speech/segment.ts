/** Hot path: the audio of one open utterance: a list of chunks, joined once at the end. Pure. */

/** Newest first, so that adding one copies nothing. */
interface Chunks {
  readonly audio: Buffer;
  readonly before: Chunks | undefined;
}

/** Why a chunk cannot be used; `path` is the field of its message. */
export interface AudioRefusal {
  readonly path: string;
  readonly message: string;
}

export interface Segment {
  readonly chunks: Chunks;
  readonly bytes: number;
  readonly firstSeq: number;
  readonly lastSeq: number;
  readonly startedAt: number;
  /** Start of the pause: the last chunk, or the end of playback. */
  readonly quietSince: number;
  readonly requestId: string | undefined;
  /** Of one of its chunks: the utterance is refused as a whole, because a part of it would be another sentence. */
  readonly refusal: AudioRefusal | undefined;
  /** Parts of one over-long utterance share a turn. */
  readonly turn: number;
}

/** The audio of a segment in order of arrival. */
export function audioOf({ chunks, bytes }: Segment): Buffer {
  if (chunks.before === undefined) return chunks.audio;
  const joined = Buffer.allocUnsafe(bytes);
  let end = bytes;
  for (let part: Chunks | undefined = chunks; part !== undefined; part = part.before) {
    end -= part.audio.length;
    part.audio.copy(joined, end);
  }
  return joined;
}
