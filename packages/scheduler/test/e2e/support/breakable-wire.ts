/** A proxy between a node and the scheduler that the test can cut, and keep cut. */
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

export interface BreakableWire {
  /** The scheduler's URL through this proxy. */
  readonly url: string;
  /** Breaks every connection; new ones are accepted, or with `isKept` only after `mend`. */
  cut(how?: { readonly isKept: boolean }): void;
  mend(): void;
}

export async function createBreakableWire(target: string): Promise<BreakableWire> {
  const { hostname, port, pathname, protocol } = new URL(target);
  const open = new Set<Socket>();
  let isBroken = false;
  const server = createServer((near) => {
    if (isBroken) {
      near.destroy();
      return;
    }
    const far = connect(Number(port), hostname);
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      open.add(from);
      from.pipe(to);
      from.on('error', () => to.destroy());
      from.on('close', () => {
        open.delete(from);
        to.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const cut = (): void => {
    for (const socket of open) socket.destroy();
  };
  onTestFinished(() => {
    cut();
    server.close();
  });
  return {
    url: `${protocol}//127.0.0.1:${(server.address() as AddressInfo).port}${pathname}`,
    cut(how) {
      isBroken = how?.isKept === true;
      cut();
    },
    mend() {
      isBroken = false;
    },
  };
}
