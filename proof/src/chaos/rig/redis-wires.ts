/** The connections of one instance to every server of Redis: they can be cut, slowed down and held, without effect on others. */
import { createBalancer } from '../wire/balancer.ts';

export interface RedisWires {
  /** Port of the server → port of the proxy to it. */
  readonly detours: ReadonlyMap<number, number>;
  /** Breaks every connection; new ones are let through. */
  cut(): void;
  /** Everything sent in either direction arrives this much later; Infinity: not before the next call. */
  delay(ms: number): void;
  close(): void;
}

export async function layRedisWires(ports: readonly number[]): Promise<RedisWires> {
  const wires = await Promise.all(
    ports.map((port) => createBalancer({ backends: () => [{ instance: `redis :${port}`, port }] })),
  );
  return {
    detours: new Map(ports.map((port, at) => [port, wires[at]?.port ?? port])),
    cut() {
      for (const wire of wires) wire.cut();
    },
    delay(ms) {
      for (const wire of wires) wire.delay(ms);
    },
    close() {
      for (const wire of wires) wire.close();
    },
  };
}
