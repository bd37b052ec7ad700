/** Composition root: plans, which serve one utterance in several languages by several jobs. */
import type { Config } from '../config/settings.ts';
import type { DispatchRequest } from '../domain/dispatch.ts';
import { planOfJob, wantedOfJob } from '../domain/plan.ts';
import { createRequirements } from '../domain/requirements.ts';
import type { Chance } from '../ports/chance.ts';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import type { FleetView } from '../runtime/fleet/fleet-view.ts';
import { type ChainJobs, createChainJobs } from '../runtime/stages/chain-jobs.ts';
import { createChainSplitter, createFleetPlanner } from '../runtime/stages/fleet-plan.ts';
import { isServed } from '../runtime/stages/plan-stages.ts';
import { createPlanRunner } from '../runtime/stages/run-plan.ts';
import { sessionSettings } from './settings/settings-from-config.ts';

export function createPlans(
  deps: {
    readonly config: Config;
    readonly clock: Clock;
    readonly chance: Chance;
    readonly log: Log;
    readonly fleet: FleetView;
  } & Pick<Parameters<typeof createChainJobs>[0], 'store' | 'reader' | 'earlyTexts' | 'dispatch' | 'cancel'>,
) {
  const { config, fleet } = deps;
  const require = createRequirements(sessionSettings(config).coreServices);
  const planOf = createFleetPlanner({ fleet, require, pivots: config.scheduler.pivot_languages });
  const jobs: ChainJobs = createChainJobs({ ...deps, require });
  const split = createChainSplitter({ fleet, require });
  /** Several nodes together could do what no single node can. */
  const isSplittable = (request: DispatchRequest): boolean => {
    const wanted = wantedOfJob(request);
    const unnamed = { name: '', fingerprint: '', deadlineAt: 0 };
    return wanted !== undefined && isServed(planOf(planOfJob(request, { ...unnamed, wanted: [wanted] })));
  };
  return { plans: createPlanRunner({ plan: planOf, jobs, split }), planOf, require, isSplittable };
}
