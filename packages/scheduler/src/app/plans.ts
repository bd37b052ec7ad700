/** Composition root: plans, which serve one utterance in several languages by several jobs. */
import type { Config } from '../config/settings.ts';
import { createRequirements } from '../domain/requirements.ts';
import type { Chance } from '../ports/chance.ts';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import type { FleetView } from '../runtime/fleet/fleet-view.ts';
import { type ChainJobs, createChainJobs } from '../runtime/stages/chain-jobs.ts';
import { createFleetPlanner } from '../runtime/stages/fleet-plan.ts';
import { createPlanRunner } from '../runtime/stages/run-plan.ts';
import { sessionSettings } from './settings/settings-from-config.ts';

export function createPlans(
  deps: {
    readonly config: Config;
    readonly clock: Clock;
    readonly chance: Chance;
    readonly log: Log;
    readonly fleet: FleetView;
  } & Pick<Parameters<typeof createChainJobs>[0], 'store' | 'reader' | 'dispatch' | 'cancel'>,
) {
  const { config, fleet } = deps;
  const require = createRequirements(sessionSettings(config).coreServices);
  const planOf = createFleetPlanner({ fleet, require, pivots: config.scheduler.pivot_languages });
  const jobs: ChainJobs = createChainJobs({ ...deps, require });
  return { plans: createPlanRunner({ plan: planOf, jobs }), planOf, require };
}
