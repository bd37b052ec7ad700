/** Tokens of every role, and their configuration. */

export const TOKENS = {
  node: 'node-token-0123456789',
  pinned: 'pinned-token-0123456789',
  acmeNode: 'acme-node-token-0123456789',
  client: 'client-token-0123456789',
  rotated: 'client-token-of-tomorrow',
  otherClient: 'other-client-0123456789',
  operator: 'operator-token-0123456789',
} as const;

const row = (token: string, ...lines: string[]): string =>
  ['[[server.tokens]]', `token = "${token}"`, ...lines, ''].join('\n');

export const TOKEN_TOML = [
  row(TOKENS.node, 'role = "node"'),
  row(TOKENS.pinned, 'role = "node"', 'node_ids = ["node-pinned"]'),
  row(TOKENS.acmeNode, 'role = "node"', 'tenant_id = "acme"'),
  row(TOKENS.client, 'role = "client"', 'tenant_id = "acme"'),
  row(TOKENS.rotated, 'role = "client"', 'tenant_id = "acme"'),
  row(TOKENS.otherClient, 'role = "client"', 'tenant_id = "globex"'),
  row(TOKENS.operator, 'role = "operator"'),
].join('\n');
