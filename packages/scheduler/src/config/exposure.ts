/** Checks that a server that other machines can reach does not accept everyone by accident. Pure. */
import { isLoopbackHost, isLoopbackNetwork, parseNetwork } from './network.ts';
import type { CheckFinding } from './origin.ts';
import type { Config } from './settings.ts';

export function checkExposure(config: Config): {
  readonly problems: readonly CheckFinding[];
  readonly warnings: readonly CheckFinding[];
} {
  const { host, tokens, anonymous, trusted_networks: networks } = config.server;
  const problems: CheckFinding[] = [];
  const warnings: CheckFinding[] = [];
  const trusted = networks.map(parseNetwork).filter((network) => network !== undefined);
  const isOpen = anonymous.length > 0;
  const trustsOthers = trusted.some((network) => !isLoopbackNetwork(network));
  const hasCredentials = tokens.length > 0 || config.server.token_keys !== undefined;
  if (!hasCredentials && !isLoopbackHost(host) && !(isOpen && trustsOthers)) {
    problems.push({
      keys: ['server.host', 'server.tokens', 'server.anonymous', 'server.trusted_networks'],
      message: `is ${host}, which other machines can reach, but no setting restricts the clients. Either add [[server.tokens]] (best), or set server.anonymous = ["session", "node"] and list their networks in server.trusted_networks, or listen on 127.0.0.1`,
    });
  }
  if (isOpen && trusted.some((network) => network.prefix === 0)) {
    warnings.push({
      keys: ['server.trusted_networks', 'server.anonymous'],
      message: `trusts every address, so anybody may act as ${anonymous.join(', ')} without a token`,
    });
  } else if (anonymous.includes('operator') && trustsOthers) {
    warnings.push({
      keys: ['server.anonymous', 'server.trusted_networks'],
      message: 'lets other machines act as operator without a token',
    });
  }
  return { problems, warnings };
}
