/** Follows the captions of one room, one stream per language, and connects again when a stream breaks. */
import type { CaptionView } from '@lingua/protocol';
import { signal } from '@preact/signals';
import { clockAheadMs } from '../data/live-feed.ts';
import { readEvents, type ServerEvent } from '../data/read-events.ts';
import { RequestError, send } from '../data/request.ts';
import { addCaption, type CaptionLog, resumeAfter } from './caption-log.ts';

/** A browser keeps six connections to one server; the live feed and the lists need some of them. */
export const MOST_LANGUAGES = 3;

const FIRST_RETRY_MS = 500;
const LONGEST_RETRY_MS = 10_000;
const TOO_MANY = 429;

export type Captions = ReturnType<typeof followCaptions>;

/** `pathOf` adds the query to the address of the room's captions. */
export function followCaptions(pathOf: (query: Readonly<Record<string, string>>) => string) {
  const log = signal<CaptionLog>([]);
  const hasEnded = signal(false);
  const hasMissed = signal(false);
  /** Why a language does not come; without a status it is tried again. */
  const problems = signal<ReadonlyMap<string, RequestError>>(new Map());
  const streams = new Map<string, AbortController>();

  function setProblem(language: string, problem: RequestError | undefined): void {
    if (problems.peek().get(language) === problem) return;
    const next = new Map(problems.peek());
    if (problem === undefined) next.delete(language);
    else next.set(language, problem);
    problems.value = next;
  }

  function take({ name, data }: ServerEvent, listeningSince: number): void {
    if (name === 'caption') {
      const now = Date.now() + clockAheadMs.peek();
      log.value = addCaption(log.peek(), JSON.parse(data) as CaptionView, { now, listeningSince });
    } else if (name === 'missed') hasMissed.value = true;
    else if (name === 'ended') hasEnded.value = true;
  }

  async function read(language: string, signal: AbortSignal): Promise<void> {
    const listeningSince = Date.now() + clockAheadMs.peek();
    const after = resumeAfter(log.peek(), language);
    const query = { lang: language, ...(after !== undefined && { after_seq: String(after) }) };
    const { body } = await send(pathOf(query), { signal });
    if (body === null) return;
    setProblem(language, undefined);
    await readEvents(body, (event) => take(event, listeningSince));
  }

  async function follow(language: string, { signal }: AbortController): Promise<void> {
    let retryMs = FIRST_RETRY_MS;
    while (!signal.aborted && !hasEnded.peek()) {
      try {
        await read(language, signal);
        retryMs = FIRST_RETRY_MS;
      } catch (error) {
        if (signal.aborted) return;
        const problem = error instanceof RequestError ? error : new RequestError(0, 'UNREACHABLE', '', '');
        setProblem(language, problem);
        if (problem.status >= 400 && problem.status < 500 && problem.status !== TOO_MANY) return;
      }
      await new Promise((resolve) => setTimeout(resolve, retryMs));
      retryMs = Math.min(LONGEST_RETRY_MS, retryMs * 2);
    }
  }

  function follows(languages: readonly string[]): void {
    for (const [language, control] of streams) {
      if (languages.includes(language)) continue;
      control.abort();
      streams.delete(language);
      setProblem(language, undefined);
    }
    for (const language of languages) {
      if (streams.has(language)) continue;
      const control = new AbortController();
      streams.set(language, control);
      void follow(language, control);
    }
  }

  return { log, hasEnded, hasMissed, problems, follow: follows, stop: () => follows([]) };
}
