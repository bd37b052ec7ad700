/** Whether a Host header names this very machine. Pure. */
import { isIPv4 } from 'node:net';
import { isLoopbackAddress } from './networks.ts';

const HOST = /^(?:\[([0-9a-f:.]+)\]|([^:[\]]+))(?::\d{1,5})?$/i;

/**
 * A page on evil.example may have its own name point to 127.0.0.1 (DNS rebinding): its requests then come from loopback and
 * its browser thinks them same-origin, but the Host header still says evil.example.
 */
export function isLoopbackHost(host: string | undefined): boolean {
  const [, address, name] = HOST.exec(host ?? '') ?? [];
  if (address !== undefined) return isLoopbackAddress(address);
  if (name === undefined) return false;
  return (name.startsWith('127.') && isIPv4(name)) || name.toLowerCase() === 'localhost';
}
