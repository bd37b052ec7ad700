/** The settings that are attacked. Attacks on the same deployment may share processes, which saves their start. */
import { generateKeyPairSync } from 'node:crypto';
import { certify } from './certify.ts';

export interface Deployment {
  /** A function gets the folder of the target, and may write files there first. */
  readonly config: string | ((folder: string) => Promise<string>);
  /** The processes serve TLS: a file in the folder of the target has the authority that every honest caller trusts. */
  readonly authorityFile?: string;
  /** Flags of Node.js, e.g. a smaller heap. */
  readonly nodeFlags?: readonly string[];
}

/** A token of every kind that a deployment has. */
export const TOKENS = {
  operator: 'attack-operator-0123456789',
  node: 'attack-node-0123456789',
  pinned: 'attack-pinned-node-0123456789',
  acme: 'attack-client-of-acme-0123456789',
  globex: 'attack-client-of-globex-0123456789',
} as const;

/** Only on MAIN. */
export const MAIN_TOKENS = {
  admin: 'attack-admin-0123456789',
  /** Of a server of acme, which mints tokens for its users. */
  minter: 'attack-server-of-acme-0123456789',
  /** Of a tenant that takes all it can get. */
  greedy: 'attack-client-of-greedy-0123456789',
} as const;

/** Only on MAIN, until a reload revokes them. */
export const STOLEN = {
  client: 'stolen-client-0123456789',
  node: 'stolen-node-0123456789',
  viewer: 'stolen-viewer-0123456789',
} as const;

/** Only on OPEN: of a node of acme's dedicated pool. */
export const BOUND_NODE = 'attack-bound-node-0123456789';

const row = (token: string, ...lines: readonly string[]): string =>
  ['[[server.tokens]]', `token = "${token}"`, ...lines, ''].join('\n');
const client = (token: string, tenantId: string, ...lines: readonly string[]): string =>
  row(token, 'role = "client"', `tenant_id = "${tenantId}"`, ...lines);

const TOKEN_ROWS = [
  row(TOKENS.operator, 'role = "operator"', 'name = "ops"'),
  row(TOKENS.node, 'role = "node"', 'name = "nodes"'),
  row(TOKENS.pinned, 'role = "node"', 'node_ids = ["node-pinned"]'),
  client(TOKENS.acme, 'acme'),
  client(TOKENS.globex, 'globex'),
].join('\n');

/** What signs minted tokens. */
export const KEY = { id: 'current', ...generateKeyPairSync('ed25519') } as const;
const KEYS = JSON.stringify({
  keys: [{ ...KEY.privateKey.export({ format: 'jwk' }), kid: KEY.id, alg: 'EdDSA' }],
});

export const MAX_AUDIO_BYTES = 2_000_000;

/** MAIN after its stolen tokens were revoked. */
export const MAIN_WITHOUT_STOLEN = `
[server]
endpoint_networks = ["10.0.0.0/8"]
token_keys = '${KEYS}'
[audit]
file = "stdout"
[scheduler.audio]
max_bytes_total = ${MAX_AUDIO_BYTES}
max_bytes_per_session = "256KB"
max_bytes_per_job = "256KB"
[scheduler.web_task_segmentation]
max_bytes = "256KB"
${TOKEN_ROWS}
${row(MAIN_TOKENS.admin, 'role = "admin"')}
${client(MAIN_TOKENS.minter, 'acme', 'may_mint = true')}
${client(MAIN_TOKENS.greedy, 'greedy')}
`;

/** Tokens of every kind, and keys for more. */
export const MAIN: Deployment = {
  config: [
    MAIN_WITHOUT_STOLEN,
    client(STOLEN.client, 'acme'),
    row(STOLEN.node, 'role = "node"'),
    row(STOLEN.viewer, 'role = "viewer"'),
  ].join('\n'),
};

export const MAX_IDLE = 50;

/** Peers of the network need no token; a tenant has a dedicated pool; logs are for people; few connections may be idle, and not long. */
export const OPEN: Deployment = {
  config: `
[server]
anonymous = ["session", "node", "operator"]
allowed_hosts = ["speech.example"]
headers_timeout_ms = 1000
[server.limits]
max_idle_connections_per_address = ${MAX_IDLE}
[log]
pretty = true
[audit]
file = "stdout"
[scheduler.pools]
enabled = true
strict_pool_eligibility = true
[[scheduler.pools.pools]]
pool_id = 1
name = "acme"
dedicated = true
[scheduler.pools.pools.language_requirements]
semantic_languages = ["de"]
[[scheduler.pools.tenant_overrides]]
tenant_id = "acme"
pool_id = 1
${TOKEN_ROWS}
${row(BOUND_NODE, 'role = "node"', 'pool_ids = [1]')}
`,
};

export const [SERVER, NODE, STRANGER] = ['server', 'gpu-1.test', 'stranger'];

/** TLS, and a node that is known by its certificate. A stranger has signed a certificate with the name of that node. */
export const ENCRYPTED: Deployment = {
  authorityFile: `${SERVER}.cert.pem`,
  async config(folder) {
    const [server, node] = await Promise.all([
      certify(folder, SERVER),
      certify(folder, NODE),
      certify(folder, NODE, STRANGER),
    ]);
    return `
[server.tls]
cert_file = "${server.certificate}"
key_file = "${server.key}"
client_ca_file = "${node.certificate}"
${TOKEN_ROWS}
[[server.tokens]]
certificate = "${NODE}"
role = "node"
node_ids = ["node-certified"]
`;
  },
};
