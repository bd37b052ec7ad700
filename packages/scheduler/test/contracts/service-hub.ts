/** Contract of ServiceHub: its law as tests, for any adapter. */
import { describe, expect, it } from 'vitest';
import type { ServiceHub } from '../../src/ports/service-hub.ts';
import { type Closable, perTest } from './harness.ts';

export interface ServiceHubHarness extends Closable {
  readonly hub: ServiceHub;
  /** Sets its answer from now on, as bytes. */
  offer(text: string): Promise<void>;
  /** Stops the server. */
  vanish(): Promise<void>;
  readonly maxBytes: number;
}

export function serviceHubContract(name: string, open: () => Promise<ServiceHubHarness>): void {
  describe(`ServiceHub: ${name}`, () => {
    const start = perTest(open);

    it('returns the current content, unchecked', async () => {
      const { hub, offer } = await start();
      await offer('{"services":[{"service_id":"größe"},7,null]}');
      expect(await hub.list()).toEqual({ services: [{ service_id: 'größe' }, 7, null] });
      await offer('[]');
      expect(await hub.list()).toEqual([]);
      expect(await hub.list()).toEqual([]);
    });

    it('throws a clear error when the answer is not JSON', async () => {
      const { hub, offer } = await start();
      for (const text of ['', '<html>', '{"services":[', 'nul']) {
        await offer(text);
        await expect(hub.list()).rejects.toThrow(/JSON/);
      }
    });

    it('reads up to its limit of bytes, and throws beyond it', async () => {
      const { hub, offer, maxBytes } = await start();
      const filling = (bytes: number) => `"${'x'.repeat(bytes - 2)}"`;
      await offer(filling(maxBytes));
      expect(await hub.list()).toHaveLength(maxBytes - 2);
      await offer(filling(maxBytes + 1));
      await expect(hub.list()).rejects.toThrow(String(maxBytes));
    });

    it('throws without a server, and works again with one', async () => {
      const { hub, offer, vanish } = await start();
      await vanish();
      await expect(hub.list()).rejects.toThrow(/could not be/);
      await offer('[]');
      expect(await hub.list()).toEqual([]);
    });
  });
}
