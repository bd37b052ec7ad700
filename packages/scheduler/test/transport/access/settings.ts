/** Settings of a gate with tokens, for tests to vary. */
import type { AccessSettings } from '../../../src/transport/access/create-gate.ts';
import { digestToken } from '../../../src/transport/access/tokens.ts';

export const LIMITS: AccessSettings['limits'] = {
  maxConnections: 4,
  maxConnectionsPerTenant: 2,
  maxConnectionsPerAddress: 3,
  requestsPerSecond: 10,
  requestsPerSecondPerTenant: 3,
  messagesPerSecond: 2,
  messagesBurst: 4,
};

export const TOKENS: AccessSettings['tokens'] = [
  { sha256: digestToken('node-token'), role: 'node' },
  { sha256: digestToken('pinned-token'), role: 'node', nodeIds: ['node-1'] },
  { sha256: digestToken('acme-token'), role: 'client', tenantId: 'acme' },
  { sha256: digestToken('globex-token'), role: 'client', tenantId: 'globex' },
  { sha256: digestToken('operator-token'), role: 'operator' },
];

export const GUARDED: AccessSettings = {
  tokens: TOKENS,
  anonymous: [],
  trustedNetworks: ['127.0.0.0/8', '::1/128'],
  allowedHosts: [],
  allowedOrigins: [],
  limits: LIMITS,
};
