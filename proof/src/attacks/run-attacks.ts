/** Runs attacks one after another and judges what each got. */
import { readdirSync } from 'node:fs';
import { type Attack, broke, type Mode, type Outcome } from './attack.ts';
import { type Deployment, MAIN } from './deployments.ts';
import { type RunningTarget, startTarget } from './start-target.ts';

export interface Verdict {
  readonly name: string;
  readonly point: number;
  readonly mode: Mode;
  /** `failed`: the attack itself could not be performed. */
  readonly kind: Outcome['kind'] | 'failed';
  readonly got: string;
  readonly ms: number;
}

const LIMIT_MS = 30_000;
/** They mostly wait. */
const LANES_AT_ONCE = 3;
const CASES = new URL('./cases/', import.meta.url);

/** Every attack in the folder cases/, by point and name. */
export async function readAttacks(): Promise<readonly Attack[]> {
  const files = readdirSync(CASES).filter((name) => /\.[jt]s$/.test(name) && !name.endsWith('.d.ts'));
  const modules = await Promise.all(
    files.map(
      (name) => import(new URL(name, CASES).href) as Promise<{ readonly ATTACKS: readonly Attack[] }>,
    ),
  );
  return modules
    .flatMap(({ ATTACKS }) => ATTACKS)
    .sort((one, other) => one.point - other.point || (one.name < other.name ? -1 : 1));
}

export async function runAttacks(
  attacks: readonly Attack[],
  options: {
    readonly modes: readonly Mode[];
    /** Attacks on the same deployment meet the same processes, one after another; others run beside them. */
    readonly sharesTargets: boolean;
    readonly onVerdict: (verdict: Verdict) => void;
  },
): Promise<readonly Verdict[]> {
  const verdicts: Verdict[] = [];

  async function perform(attack: Attack, mode: Mode, reach: () => Promise<RunningTarget>): Promise<boolean> {
    const begunAt = performance.now();
    const { name, point } = attack;
    const result = await judge(attack, reach);
    const verdict = { name, point, mode, ...result, ms: Math.round(performance.now() - begunAt) };
    verdicts.push(verdict);
    options.onVerdict(verdict);
    return result.kind === 'held';
  }

  /** On fresh processes after an attack that was not held off. */
  async function performAll(lane: Lane): Promise<void> {
    let target: RunningTarget | undefined;
    const reach = async () => {
      target ??= await startTarget(lane.mode, lane.deployment);
      return target;
    };
    try {
      for (const attack of lane.attacks) {
        const isUsable = (await perform(attack, lane.mode, reach)) && options.sharesTargets;
        if (isUsable) continue;
        await target?.stop();
        target = undefined;
      }
    } finally {
      await target?.stop();
    }
  }

  const lanes = lanesOf(attacks, options.modes);
  const workers = Array.from({ length: options.sharesTargets ? LANES_AT_ONCE : 1 }, async () => {
    for (let lane = lanes.shift(); lane !== undefined; lane = lanes.shift()) await performAll(lane);
  });
  await Promise.all(workers);
  return verdicts;
}

/** Attacks on one deployment. */
interface Lane {
  readonly mode: Mode;
  readonly deployment: Deployment;
  readonly attacks: readonly Attack[];
}

function lanesOf(attacks: readonly Attack[], modes: readonly Mode[]): Lane[] {
  return modes.flatMap((mode) => {
    const byDeployment = new Map<Deployment, Attack[]>();
    for (const attack of attacks.filter((each) => each.modes.includes(mode))) {
      const { on: deployment = MAIN } = attack;
      byDeployment.set(deployment, [...(byDeployment.get(deployment) ?? []), attack]);
    }
    return [...byDeployment].map(([deployment, lane]) => ({ mode, deployment, attacks: lane }));
  });
}

async function judge(
  attack: Attack,
  reach: () => Promise<RunningTarget>,
): Promise<Pick<Verdict, 'kind' | 'got'>> {
  try {
    const target = await reach();
    const outcome = await within(attack.limitMs ?? LIMIT_MS, attack.run(target));
    const damage = await target.damage();
    return damage === undefined ? outcome : broke(`${damage}; ${outcome.got}`);
  } catch (fault) {
    return { kind: 'failed', got: fault instanceof Error ? fault.message : String(fault) };
  }
}

async function within(limitMs: number, running: Promise<Outcome>): Promise<Outcome> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Outcome>((resolve) => {
    timer = setTimeout(() => resolve(broke(`had not ended after ${limitMs} ms`)), limitMs);
  });
  try {
    return await Promise.race([running, late]);
  } finally {
    clearTimeout(timer);
  }
}
