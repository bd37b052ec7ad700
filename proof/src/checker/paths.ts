/**
 * I4 of utterances in several languages: each step of a delivered text or voice was made by the run that signed it, and the steps lead from the
 * input to the wanted language. Pure.
 */
import { nameOf, type WorkStep } from '../../../packages/simulation/dist/history.js';
import type { Facts } from './facts.ts';
import type { Finding, Violation } from './violation.ts';

/** Stages in their order: spoken input is recognised, repaired once, and translated at most twice. */
const PATHS = {
  audio: /^asr semantic( nmt){0,2}( tts)?$/,
  text: /^nmt( nmt)?( tts)?$/,
} as const;

export function checkPaths({ stories, seen }: Pick<Facts, 'stories' | 'seen'>): Finding {
  const violations: Violation[] = [];
  let judged = 0;
  for (const { client, request, part, outcomes } of stories)
    for (const { result, at } of part === undefined ? [] : outcomes) {
      if (part === undefined || result === undefined) continue;
      judged += 1;
      const { steps = [] } = result;
      const unmade = steps.find((step) => seen.doneBy(step, at) === undefined);
      const stages = steps.map((step) => step.stages.replaceAll('+', ' ')).join(' ');
      const isSpoken = stages.endsWith('tts');
      const wrong =
        unmade !== undefined
          ? `step ${nameOf(unmade)} on ${unmade.node}, which never finished it`
          : !PATHS[part.input].test(stages) || isSpoken !== (part.kind === 'voice')
            ? `the stages "${stages}" from ${part.input}`
            : steps.at(-1)?.to !== part.language
              ? `${steps.at(-1)?.to ?? 'no language'} instead of ${part.language}`
              : undefined;
      if (wrong === undefined) continue;
      violations.push({
        invariant: 'I4 fencing',
        at,
        message: `${client} got for ${request} ${wrong}`,
        about: [request, ...steps.map(({ job }: WorkStep) => job)],
      });
    }
  return { violations, counts: {}, judged: { 'I4 fencing': judged } };
}
