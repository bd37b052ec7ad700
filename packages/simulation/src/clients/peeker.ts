/** Simulation: a client that reads jobs of other tenants with its own credential. It must see none of them (I10). */
import { type ClientDeps, nextArrivalMs } from './client-world.ts';

const CALL_MS = 1_000;

/** `jobOfOthers`: the latest job of another tenant; undefined: there is none yet. */
export function startPeeker(
  deps: Pick<ClientDeps, 'machine' | 'world' | 'chance' | 'tenant' | 'perSecond'> & {
    readonly jobOfOthers: () => string | undefined;
  },
): { stop(): void } {
  const { machine, world, chance, tenant } = deps;
  let isCurious = true;

  async function peek(job: string): Promise<void> {
    const asked = await world.ask(machine, CALL_MS, async (instance) => ({
      found: await instance.read({ machine, tenant }, job),
    }));
    // A read without an answer has shown nothing and proves nothing.
    if (asked === undefined) return;
    const didSee = asked.answer.found !== undefined;
    world.recorder.record({ kind: 'peeked', client: machine.name, tenant, job, didSee });
  }

  function lookAround(): void {
    machine.clock.after(nextArrivalMs(chance, deps.perSecond), () => {
      if (!isCurious) return;
      const job = deps.jobOfOthers();
      if (job !== undefined) void peek(job);
      lookAround();
    });
  }

  lookAround();
  return {
    stop() {
      isCurious = false;
    },
  };
}
