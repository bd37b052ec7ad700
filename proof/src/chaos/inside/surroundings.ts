/**
 * Runs in the process of an instance, before it: gives it a wrong clock, and redirects its connections to Redis to proxies of the
 * harness. An administrator could do the same by setting the date and redirecting ports, but needs rights for it.
 */
import { Socket } from 'node:net';

const detours = new Map(JSON.parse(process.env.CHAOS_DETOURS ?? '[]') as [number, number][]);
const aheadMs = Number(process.env.CHAOS_CLOCK_AHEAD_MS ?? 0);
// Settings are read from the environment, too.
delete process.env.CHAOS_DETOURS;
delete process.env.CHAOS_CLOCK_AHEAD_MS;

if (detours.size > 0) redirect();
if (aheadMs !== 0) setClock();

function redirect(): void {
  const connect = Socket.prototype.connect as (this: Socket, ...args: unknown[]) => Socket;
  Socket.prototype.connect = function (this: Socket, ...args: unknown[]) {
    // net.connect() hands on a list of its own, whose first entry has the options.
    const holder = Array.isArray(args[0]) ? (args[0] as unknown[]) : args;
    const [to] = holder as [{ readonly port?: number | string } | undefined];
    const detour = detours.get(Number(to?.port));
    if (detour !== undefined) holder[0] = { ...to, port: detour };
    return connect.apply(this, args);
  } as typeof Socket.prototype.connect;
}

function setClock(): void {
  const Right = Date;
  const now = (): number => Right.now() + aheadMs;
  class Wrong extends Right {
    constructor(...args: [] | [number]) {
      if (args.length === 0) super(now());
      else super(...args);
    }
    static override now = now;
  }
  globalThis.Date = Wrong as DateConstructor;
  Object.defineProperty(performance, 'timeOrigin', { value: performance.timeOrigin + aheadMs });
}
