/** A wire to a server whose answers take their time. What is sent to it arrives at once. */
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

const HOST = '127.0.0.1';

/** Answers with the port of the wire. `delayMs` is asked for each piece of an answer; pieces stay in order. */
export async function startSlowWire(port: number, delayMs: () => number): Promise<number> {
  const open = new Set<Socket>();
  const server = createServer({ noDelay: true }, (near) => {
    const far = connect({ port, host: HOST, noDelay: true });
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      open.add(socket);
      socket.on('error', () => other.destroy());
      socket.on('close', () => {
        open.delete(socket);
        other.destroy();
      });
    }
    near.pipe(far);
    far.on('data', (piece) => setTimeout(() => near.writable && near.write(piece), delayMs()));
  });
  await new Promise<void>((resolve) => server.listen(0, HOST, resolve));
  onTestFinished(() => {
    for (const socket of open) socket.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}
