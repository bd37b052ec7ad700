/** Contestants of scenarios that measure decisions: the cost of one decision, and of a heartbeat. */
import type { Scenario } from '../scenario/scenario.ts';
import type { Who } from '../scenario/vocabulary.ts';
import { startChild } from './child.ts';
import type { Contestant, Round, RoundOrder } from './contestant.ts';
import type { DecisionsReport, DecisionsStart } from './decisions-process.ts';

export async function startDecisions(who: Who, scenario: Scenario): Promise<Contestant> {
  const about: DecisionsStart = { who, scenario };
  const child = await startChild('decisions-process', about);
  async function round({ seconds }: RoundOrder): Promise<Round> {
    const { decision, heartbeat } = (await child.ask({ seconds })) as DecisionsReport;
    return { figures: { decision_cpu_us: decision, heartbeat_cpu_us: heartbeat } };
  }
  return {
    who,
    round,
    probe: round,
    stop: () => child.stop(),
  };
}
