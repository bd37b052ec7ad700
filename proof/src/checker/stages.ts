/**
 * Utterances in several languages. S1: no stage is done twice, unless the node that did it failed. S2: no job makes a text or a voice that the
 * client did not ask for. Pure.
 */
import { nameOf } from '../../../packages/simulation/dist/history.js';
import type { Facts } from './facts.ts';
import { disturbsStore, hitsOf, lossesOf, spansOf } from './faults.ts';
import type { Allowances, Finding, Invariant, Violation } from './violation.ts';
import { type UtteranceStory, utteranceStories, type Work } from './works.ts';

/** By design: a node that takes whole jobs only recognises for itself. Nodes that share the recognition were not to be had. */
const WHOLE_JOBS = 'recognitions in whole jobs, beside others';

export function checkStages({ history, faults, stories, seen }: Facts, allowances: Allowances): Finding {
  const { flightMs, messageMs, leaseMs, recoverMs } = allowances;
  const utterances = utteranceStories(history, stories);
  const isEnd = ({ what }: { readonly what: string }): boolean =>
    what === 'instance_killed' || what === 'instance_restarted';
  const losses = lossesOf(faults, allowances);
  const hurts = hitsOf(faults, ({ what }) => what.startsWith('node_') || what === 'network_bad');
  /** The instances that live cannot act as usual. */
  const disturbed = spansOf(
    faults,
    (fault) => disturbsStore(fault) || (fault.what.startsWith('instance_') && !isEnd(fault)),
    { after: recoverMs },
  );
  const deaths = spansOf(faults, isEnd);
  const anyNode = spansOf(faults, ({ what }) => what.startsWith('node_') || what === 'network_bad', {
    after: leaseMs,
  });
  const violations: Violation[] = [];
  const counts = { utterances: utterances.length, [WHOLE_JOBS]: 0 };
  let [stagesJudged, jobsJudged] = [0, 0];
  const found = (
    invariant: Invariant,
    at: number,
    message: string,
    { utterance, parts }: UtteranceStory,
    works: readonly Work[],
  ): void => {
    const about = [...parts.map(({ request }) => request), ...works.flatMap(({ job, node }) => [job, node])];
    violations.push({ invariant, at, message: `${utterance}: ${message}`, about });
  };

  /** Its node and all that must know of it had no fault, so that no other node had to do the same. */
  function isSound(work: Work, at: number): boolean {
    const { node, assignedAt, acknowledgedAt, endedAt, how } = work;
    if (how === 'failed' || how === 'cancelled') return false;
    if (acknowledgedAt === undefined || acknowledgedAt - assignedAt > messageMs - flightMs) return false;
    if (at - assignedAt > leaseMs) return false;
    const doneAt = how === 'done' ? endedAt : undefined;
    const [from, to] = [assignedAt - flightMs, Math.min(doneAt ?? at, at) + flightMs];
    return (
      hurts(node)?.meets(from, to) !== true &&
      !disturbed.meets(from, to) &&
      // What a dying instance was about to write or to read is lost.
      !deaths.meets(from, acknowledgedAt + flightMs) &&
      !deaths.meets((doneAt ?? at) - messageMs, (doneAt ?? at) + messageMs) &&
      !losses.some(({ written }) => written.from <= to && from <= written.to)
    );
  }

  function checkOnce(story: UtteranceStory): void {
    for (const [key, works] of byStage(story.works)) {
      for (const [at, work] of works.entries()) {
        // By design: its job is overdue on another node.
        if (seen.isHedge(work)) continue;
        stagesJudged += 1;
        const before = works
          .slice(0, at)
          .find((each) => nameOf(each) !== nameOf(work) && isSound(each, work.at));
        if (before === undefined) continue;
        // An earlier attempt, whose node could not be reached while it was on its way.
        const isLate = before.job === work.job && work.attempt < before.attempt;
        if (isLate && hurts(work.node)?.meets(before.assignedAt, work.at)) continue;
        // A plan is cut differently when other nodes can be had.
        if (before.job !== work.job && anyNode.meets(before.assignedAt, work.at)) {
          if (key === 'asr') counts[WHOLE_JOBS] += 1;
          continue;
        }
        const sooner = `${nameOf(before)} on ${before.node}`;
        found(
          'S1 done once',
          work.at,
          `${key} by ${nameOf(work)} on ${work.node}, although ${sooner} had it`,
          story,
          [before, work],
        );
      }
    }
  }

  function checkWanted(story: UtteranceStory): void {
    const { parts, works } = story;
    const wants = (language: string, kind: string): boolean =>
      parts.some((part) => part.language === language && part.kind === kind);
    for (const work of works) {
      const { stages, to, from } = work;
      jobsJudged += 1;
      if (stages.includes('asr') && parts[0]?.input === 'text')
        found('S2 wanted only', work.at, `typed, and ${work.node} got it to recognise`, story, [work]);
      if (stages.includes('tts') && !wants(to, 'voice'))
        found('S2 wanted only', work.at, `nobody wants it spoken in ${to}, as ${work.job} does`, story, [
          work,
        ]);
      if (!stages.includes('nmt') || from === to || wants(to, 'text')) continue;
      // A pivot: another text is made from it.
      const isPivot = work.how !== 'done' || works.some((other) => other.from === to && other.to !== to);
      const isCutOff = parts.every(({ hasResult, language }) => !hasResult || language === from);
      if (isPivot || isCutOff) continue;
      found('S2 wanted only', work.at, `nobody wants ${to}, which ${work.job} makes`, story, [work]);
    }
  }

  for (const story of utterances) {
    checkOnce(story);
    checkWanted(story);
  }
  return {
    violations,
    counts: utterances.length === 0 ? {} : counts,
    judged: { 'S1 done once': stagesJudged, 'S2 wanted only': jobsJudged },
  };
}

/** A stage and the language of its result; recognition is one for all languages. */
function byStage(works: readonly Work[]): ReadonlyMap<string, readonly Work[]> {
  const all = new Map<string, Work[]>();
  for (const work of works)
    for (const stage of work.stages) {
      const key = stage === 'asr' || stage === 'semantic' ? stage : `${stage} ${work.to}`;
      all.set(key, [...(all.get(key) ?? []), work]);
    }
  return all;
}
