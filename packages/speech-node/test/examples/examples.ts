/** The examples of engines, with the types that they promise. */
import type { Engines, Recognizer, Synthesizer, Translator } from '../../src/engines/engines.ts';

interface Limits {
  readonly atOnce: number;
  readonly waiting: number;
}
type Read = (env: Readonly<Record<string, string>>) => Partial<Engines>;

export interface ExternalCommand {
  readonly default: Read;
  commandRecognizer(command: string, languages: readonly string[], limits?: Limits): Recognizer;
  commandSynthesizer(command: string, languages: readonly string[], limits?: Limits): Synthesizer;
}

interface Server {
  readonly url: string;
  readonly key?: string;
}
type Open<Engine> = (server: Server, model: string, languages: readonly string[], limits?: Limits) => Engine;

export interface OpenAiServer {
  readonly default: Read;
  readonly serverRecognizer: Open<Recognizer>;
  readonly serverTranslator: Open<Translator>;
  readonly serverSynthesizer: Open<Synthesizer>;
}

/** One call runs, one waits. */
export const SMALL: Limits = { atOnce: 1, waiting: 1 };

const load = (name: string): Promise<unknown> =>
  import(/* @vite-ignore */ new URL(`../../examples/${name}.js`, import.meta.url).href);
export const externalCommand = (await load('external-command')) as ExternalCommand;
export const openAiServer = (await load('openai-server')) as OpenAiServer;
