/** What nodes did for each utterance in several languages, and what its client wanted. Pure. */
import { type HistoryEvent, ofKind, type Part, type Run } from '../../../packages/simulation/dist/history.js';
import type { RequestStory } from './request-stories.ts';

/** One run of a job that works on the utterance. */
export interface Work extends Run {
  readonly stages: readonly string[];
  readonly from: string;
  readonly to: string;
  readonly assignedAt: number;
  /** When the node had the input. */
  readonly at: number;
  acknowledgedAt: number | undefined;
  endedAt: number | undefined;
  how: 'done' | 'failed' | 'cancelled' | undefined;
}

export interface WantedPart extends Part {
  readonly request: string;
  readonly outcomeAt: number | undefined;
  readonly hasResult: boolean;
}

export interface UtteranceStory {
  readonly utterance: string;
  readonly pool: string;
  readonly parts: readonly WantedPart[];
  /** In the order in which nodes had their input. */
  readonly works: readonly Work[];
}

/** Utterances are known by their words, which are unique within a tenant and thus within its pool. */
export function utteranceStories(
  history: readonly HistoryEvent[],
  stories: readonly RequestStory[],
): UtteranceStory[] {
  const wanted = new Map<string, { utterance: string; pool: string; parts: WantedPart[]; works: Work[] }>();
  for (const { request, words = '', pool = '', part, outcomes } of stories) {
    if (part === undefined) continue;
    const name = `${pool} ${words}`;
    const known = wanted.get(name) ?? { utterance: part.utterance, pool, parts: [], works: [] };
    wanted.set(name, known);
    const [first] = outcomes;
    known.parts.push({
      ...part,
      request,
      outcomeAt: first?.at,
      hasResult: first?.result !== undefined,
    });
  }
  if (wanted.size === 0) return [];
  const poolOf = new Map(ofKind(history, 'node_up').map(({ node, pool }) => [node, pool ?? '']));
  const assigned = new Map<string, number>();
  const acknowledged = new Map<string, number>();
  const works = new Map<string, Work>();
  for (const each of ofKind(history, 'assigned', 'acknowledged', 'understood', 'ended')) {
    const { node, job, attempt, at } = each;
    const run = `${node} ${job} ${attempt}`;
    if (each.kind === 'assigned') assigned.set(run, assigned.get(run) ?? at);
    else if (each.kind === 'understood') {
      const story = wanted.get(`${poolOf.get(node) ?? ''} ${each.words}`);
      if (story === undefined || works.has(run)) continue;
      const { from, to } = each;
      const work: Work = {
        node,
        job,
        attempt,
        stages: each.stages.split('+'),
        from,
        to,
        assignedAt: assigned.get(run) ?? at,
        at,
        // An acknowledgement may be sent before the input is there.
        acknowledgedAt: acknowledged.get(run),
        endedAt: undefined,
        how: undefined,
      };
      works.set(run, work);
      story.works.push(work);
    } else if (each.kind === 'acknowledged') {
      acknowledged.set(run, acknowledged.get(run) ?? at);
      const work = works.get(run);
      if (work !== undefined) work.acknowledgedAt ??= at;
    } else {
      const work = works.get(run);
      if (work === undefined) continue;
      work.endedAt ??= at;
      work.how ??= each.how;
    }
  }
  return [...wanted.values()];
}
