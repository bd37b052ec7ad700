/** What a speech node needs from its engines; each interface is a law that `test/contracts` executes on every engine. */

/** Samples per second of all sound inside a node; engines with another rate convert. */
export const SAMPLE_RATE = 16_000;

/**
 * Speech to text.
 * - Silence and what cannot be understood give the empty text, never an invented one.
 * - Calls may overlap; each gets the text of its own speech. An engine bounds how many wait, and refuses further ones with
 *   the JobError NODE_OVERLOADED.
 * - An aborted call rejects with the reason of the signal and stops the work; later calls are not affected.
 * - A language that is not listed is refused. After `close` every call rejects.
 */
export interface Recognizer {
  /** Named in results and in the registration. */
  readonly model: string;
  /** ISO 639-1 codes. */
  readonly languages: readonly string[];
  /** Mono, 16 kHz, from -1 to 1. */
  recognize(speech: Float32Array, language: string, signal: AbortSignal): Promise<string>;
  close(): Promise<void>;
}

export interface Pair {
  readonly source: string;
  readonly target: string;
}

/** A direction that a translator offers. */
export interface OfferedPair extends Pair {
  /** The language in between, if the text is translated twice. */
  readonly via?: string;
}

/**
 * Text to text in another language.
 * - The empty text stays empty. Every text is translated as text: characters that the engine uses for its own purposes,
 *   such as brackets, come back as they were.
 * - Calls may overlap; overload, abort, unknown pairs and `close` are as for a Recognizer.
 */
export interface Translator {
  readonly model: string;
  readonly pairs: readonly OfferedPair[];
  translate(text: string, pair: Pair, signal: AbortSignal): Promise<string>;
  /** A text of this pair will come soon: an engine that starts something for it starts it now. Never throws. */
  prepare?(pair: Pair): void;
  close(): Promise<void>;
}

/**
 * Text to speech.
 * - The result is mono, 16 kHz, 16 bit. A longer text gives longer speech; a text without words may give none.
 * - Every text is spoken as text, also one that looks like an option or like markup.
 * - Overlapping calls, overload, abort, unknown languages and `close` are as for a Recognizer.
 */
export interface Synthesizer {
  readonly model: string;
  readonly languages: readonly string[];
  speak(text: string, language: string, signal: AbortSignal): Promise<Int16Array>;
  close(): Promise<void>;
}

export interface Engines {
  readonly recognizers: readonly Recognizer[];
  readonly translators: readonly Translator[];
  readonly synthesizers: readonly Synthesizer[];
}
