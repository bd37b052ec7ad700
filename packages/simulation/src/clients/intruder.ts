/** Simulation: a client that tries codes of rooms of another tenant. None may open (R6). */
import { openSession, RoomRefused, type WebSocketConstructor } from '@lingua/sdk/client';
import type { ClientDeps } from './client-world.ts';
import { simulatedWebSocket } from './simulated-web-socket.ts';

/** More often than five times a minute it would be refused whatever the code. */
const EVERY_MS = [13_000, 20_000] as const;
const FIRST_MS = 3_000;

/** `codes`: of the rooms of others. */
export function startIntruder(
  deps: Pick<ClientDeps, 'machine' | 'world' | 'chance' | 'tenant'> & {
    readonly codes: () => readonly string[];
  },
): { stop(): void } {
  const { machine, world, chance, tenant } = deps;
  const { clock, name: client } = machine;
  let isTrying = true;
  const session = openSession({
    url: 'http://schedulers',
    tenantId: tenant,
    srcLang: 'en',
    tgtLang: 'de',
    // The simulated network has no HTTP.
    fetch: () => Promise.reject(new Error('not simulated')),
    WebSocket: simulatedWebSocket({ machine, dial: world.dial, overhear() {} }) as WebSocketConstructor,
    clock,
    chance,
  });

  async function tryOne(): Promise<void> {
    const codes = deps.codes();
    const room = codes[Math.floor(chance() * codes.length)];
    if (room === undefined) return;
    const about = { kind: 'room_tried', client, tenant, room } as const;
    try {
      const entered = await session.rooms.join(room);
      world.recorder.record({ ...about, didEnter: true });
      entered.leave();
    } catch (error) {
      if (!(error instanceof RoomRefused)) throw error;
      // Other refusals prove nothing.
      if (error.code === 'ROOM_NOT_FOUND') world.recorder.record({ ...about, didEnter: false });
    }
  }

  function tryLater(waitMs: number): void {
    clock.after(waitMs, () => {
      if (!isTrying) return;
      void tryOne();
      tryLater(EVERY_MS[0] + chance() * (EVERY_MS[1] - EVERY_MS[0]));
    });
  }

  tryLater(FIRST_MS);
  return {
    stop() {
      isTrying = false;
    },
  };
}
