/** Networks in CIDR form, and which hosts are the loopback. Pure. */
import { isIP } from 'node:net';

export interface Network {
  readonly address: string;
  readonly prefix: number;
  readonly family: 'ipv4' | 'ipv6';
}

/** Reads "10.0.0.0/8", "::1/128" or a bare address, which is a network of one. */
export function parseNetwork(text: string): Network | undefined {
  const [address = '', prefixText, ...rest] = text.split('/');
  const version = isIP(address);
  if (version === 0 || rest.length > 0) return undefined;
  const bits = version === 4 ? 32 : 128;
  if (prefixText !== undefined && !/^\d{1,3}$/.test(prefixText)) return undefined;
  const prefix = prefixText === undefined ? bits : Number(prefixText);
  // IPv4 written as IPv6: a shorter prefix than its fixed part means nothing.
  const shortest = /^::ffff:\d+\./i.test(address) ? 96 : 0;
  return prefix > bits || prefix < shortest
    ? undefined
    : { address, prefix, family: version === 4 ? 'ipv4' : 'ipv6' };
}

export const isLoopbackNetwork = (network: Network): boolean =>
  network.family === 'ipv4'
    ? network.prefix >= 8 && network.address.startsWith('127.')
    : network.prefix === 128 && isLoopbackHost(network.address);

export const isLoopbackHost = (host: string): boolean =>
  host === 'localhost' ||
  (isIP(host) === 4 && host.startsWith('127.')) ||
  (isIP(host) === 6 && /^(0{0,4}:){2,7}0{0,3}1$/.test(host));
