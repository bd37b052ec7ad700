/** Runs attacks one after another and judges what each got. */
import { readdirSync } from 'node:fs';
import { type Attack, broke, type Mode, type Outcome } from './attack.ts';
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
    /** Attacks with the same settings meet the same processes, which saves their start. */
    readonly sharesTargets: boolean;
    readonly onVerdict: (verdict: Verdict) => void;
  },
): Promise<readonly Verdict[]> {
  const verdicts: Verdict[] = [];
  const shared = new Map<string, RunningTarget>();

  async function perform(attack: Attack, mode: Mode): Promise<Pick<Verdict, 'kind' | 'got'>> {
    const own = typeof attack.config === 'function' ? attack.name : undefined;
    const key = JSON.stringify([mode, attack.config, attack.nodeFlags, own]);
    let target: RunningTarget | undefined;
    try {
      target = shared.get(key) ?? (await startTarget(mode, attack));
      const outcome = await within(attack.limitMs ?? LIMIT_MS, attack.run(target));
      const damage = await target.damage();
      if (damage === undefined && options.sharesTargets) shared.set(key, target);
      else shared.delete(key);
      return damage === undefined ? outcome : broke(`${damage}; ${outcome.got}`);
    } catch (fault) {
      shared.delete(key);
      return { kind: 'failed', got: fault instanceof Error ? fault.message : String(fault) };
    } finally {
      if (!shared.has(key)) await target?.stop();
    }
  }

  async function stopShared(): Promise<void> {
    await Promise.all([...shared.values()].map((target) => target.stop()));
    shared.clear();
  }

  for (const mode of options.modes)
    try {
      for (const attack of attacks.filter(({ modes }) => modes.includes(mode))) {
        const begunAt = performance.now();
        const { name, point } = attack;
        const verdict = { name, point, mode, ...(await perform(attack, mode)) };
        verdicts.push({ ...verdict, ms: Math.round(performance.now() - begunAt) });
        options.onVerdict(verdicts.at(-1) as Verdict);
      }
    } finally {
      await stopShared();
    }
  return verdicts;
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
