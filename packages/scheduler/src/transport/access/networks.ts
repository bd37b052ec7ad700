/** Networks in CIDR form, and whether an address is in one of them. IPv4, IPv6 and IPv4-mapped IPv6. */
import { BlockList, isIP, isIPv4 } from 'node:net';

const MAPPED = '::ffff:';
const MAPPED_BITS = 96;

export interface Networks {
  readonly isEmpty: boolean;
  includes(address: string): boolean;
}

export function createNetworks(cidrs: readonly string[]): Networks {
  const list = new BlockList();
  for (const cidr of cidrs) add(list, cidr);
  return {
    isEmpty: cidrs.length === 0,
    includes(given) {
      const address = plainAddress(given);
      const version = isIP(address);
      return version !== 0 && list.check(address, version === 4 ? 'ipv4' : 'ipv6');
    },
  };
}

const LOOPBACK = createNetworks(['127.0.0.0/8', '::1']);

export const isLoopbackAddress = (address: string): boolean => LOOPBACK.includes(address);

/** Removes the zone of a link-local address and the ::ffff: prefix, with which a dual-stack socket shows IPv4 peers. */
export function plainAddress(address: string): string {
  const unzoned = address.split('%', 1)[0] ?? '';
  const tail = unzoned.toLowerCase().startsWith(MAPPED) ? unzoned.slice(MAPPED.length) : '';
  return isIPv4(tail) ? tail : unzoned;
}

/** What one customer of a provider has: an IPv4 address, or the 64 bits in front of an IPv6 address. */
export function networkOf(address: string): string {
  const plain = plainAddress(address);
  if (isIPv4(plain)) return plain;
  const [head = '', tail] = plain.split('::');
  const groups = (text = ''): string[] => (text === '' ? [] : text.split(':'));
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - groups(head).length - groups(tail).length);
  return [...groups(head), ...Array<string>(zeros).fill('0'), ...groups(tail)].slice(0, 4).join(':');
}

function add(list: BlockList, cidr: string): void {
  const [written = '', bits, ...rest] = cidr.split('/');
  const address = plainAddress(written);
  const version = isIP(address);
  const longest = version === 4 ? 32 : 128;
  const unmapped = address === written ? 0 : MAPPED_BITS;
  const prefix = bits === undefined ? longest : /^\d{1,3}$/.test(bits) ? Number(bits) - unmapped : -1;
  if (version === 0 || rest.length > 0 || prefix < 0 || prefix > longest) {
    throw new Error(`"${cidr}" is not a network; one looks like "10.0.0.0/8" or "::1/128"`);
  }
  list.addSubnet(address, prefix, version === 4 ? 'ipv4' : 'ipv6');
}
