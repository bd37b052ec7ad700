/** Settings of the listening server: addresses, who may connect, limits, timeouts, logs. */
import { list, optional, required, tables } from '../compound-setting.ts';
import { parseNetwork } from '../network.ts';
import { boolean, bytes, choice, group, integer, text, url } from '../setting.ts';
import { region } from './regions.ts';

const MB = 1024 * 1024;
const MAX_POOL_ID = 65_535;
const ID = /^[A-Za-z0-9._:-]{1,128}$/;
const ID_ALLOWED = '1 to 128 letters, digits, or . _ : -';

const network = text({
  default: '',
  allowed: 'a network like "10.0.0.0/8" or "::1/128"',
  accepts: (value) => parseNetwork(value) !== undefined,
  doc: '',
});

const origin = text({
  default: '',
  pattern: /^(\*|null|[a-z][a-z0-9.+-]*:\/\/[^/\s?#@]*)$/i,
  allowed: 'an origin like "https://example.org" or "chrome-extension://abc", or "*"',
  doc: '',
});

const hostName = text({
  default: '',
  pattern: /^[A-Za-z0-9._-]{1,253}$/,
  allowed: 'a host name without scheme and port',
  doc: '',
});

const limits = group('Limits of one server.', {
  max_connections: integer({
    default: 20_000,
    min: 1,
    max: 1_000_000,
    doc: 'Open sockets in total, and HTTP connections with a request in progress in total.',
  }),
  max_connections_per_tenant: integer({
    default: 10_000,
    min: 1,
    max: 1_000_000,
    doc: 'Open sockets of one tenant.',
  }),
  max_connections_per_address: integer({
    default: 20_000,
    min: 1,
    max: 1_000_000,
    doc: 'Open sockets from one address (IPv6: one /64 network); behind `server.trusted_proxies`, of one client address. As high as the total by default, because a gateway is one address.',
  }),
  max_idle_connections: integer({
    default: 5_000,
    min: 1,
    max: 1_000_000,
    doc: 'Open HTTP connections without a request in progress. A new one closes the oldest, first one that has sent no request.',
  }),
  max_idle_connections_per_address: integer({
    default: 2_000,
    min: 1,
    max: 1_000_000,
    doc: 'The same, of one address (IPv6: one /64 network). Not for `server.trusted_proxies`.',
  }),
  max_message_bytes: bytes({
    default: 2 * MB,
    // A chunk of the client SDK always fits.
    min: 32 * 1024,
    max: 64 * MB,
    doc: 'Longest message of a session, and longest HTTP request body.',
  }),
  max_node_message_bytes: bytes({
    default: 8 * MB,
    min: 1024,
    max: 64 * MB,
    doc: 'Longest message of a node; its results carry audio.',
  }),
  messages_per_second: integer({
    default: 200,
    min: 1,
    max: 100_000,
    unit: 'per second',
    doc: 'Messages of one connection per second, on average.',
  }),
  messages_burst: integer({
    default: 400,
    min: 1,
    max: 1_000_000,
    doc: 'Messages of one connection that may come at once.',
  }),
  requests_per_second_per_tenant: integer({
    default: 5_000,
    min: 1,
    max: 1_000_000,
    unit: 'per second',
    doc: 'HTTP requests of one tenant, over all instances: each instance grants its share (see scheduler.tenant_limits).',
  }),
  requests_per_second: integer({
    default: 50_000,
    min: 1,
    max: 10_000_000,
    unit: 'per second',
    doc: 'HTTP requests in total.',
  }),
  max_invalid_messages: integer({
    default: 20,
    min: 0,
    max: 10_000,
    doc: 'Invalid messages on one connection before it is closed; one is forgiven every ten seconds.',
  }),
  max_unknown_tokens_per_minute: integer({
    default: 60,
    min: 1,
    max: 1_000_000,
    doc: 'Unknown tokens that one address (IPv6: one /64 network) may send in a minute. Above it, further ones get 429; valid tokens are accepted from every address.',
  }),
  max_buffered_bytes: bytes({
    default: 8 * MB,
    min: 64 * 1024,
    max: 1024 * MB,
    doc: 'Unsent bytes on one connection before it counts as too slow and is closed.',
  }),
});

const file = (doc: string) => optional(text({ default: '', doc }));

const tls = group(
  'TLS of this server, 1.2 or newer, for HTTP and sockets. The files are PEM, relative to the configuration file, and read again when they change.',
  {
    cert_file: file(
      'File with the certificate of the server and its intermediate ones. Unset: no TLS; then only a proxy in front can encrypt.',
    ),
    key_file: file('File with the key of that certificate, without a passphrase.'),
    client_ca_file: file(
      'File with the authorities that sign the certificates of nodes; see `certificate` in `server.tokens`. Unset: clients are not asked for one.',
    ),
    ca_file: file(
      'File with the authorities to trust when this instance fetches audio from others over https. Unset: those of the system.',
    ),
  },
);

export const server = group('Where the server listens, and who may connect.', {
  host: text({
    default: '127.0.0.1',
    pattern: /^[A-Za-z0-9.:_-]{1,253}$/,
    allowed: 'an address or host name',
    doc: 'Address to listen on. Any but a loopback address needs tokens or an explicit `anonymous`.',
  }),
  port: integer({ default: 5010, min: 0, max: 65_535, doc: 'Port to listen on; 0 takes a free one.' }),
  advertise_url: optional(
    url({
      default: '',
      schemes: ['http', 'https'],
      doc: 'Address at which other instances and nodes reach this one, to fetch audio. Needed behind a proxy. Unset: the address it listens on if that is a loopback one; otherwise audio goes to nodes inline.',
    }),
  ),
  base_path: text({
    default: '',
    pattern: /^(\/[A-Za-z0-9._~-]+)*$/,
    allowed: 'a path like "/lingua", without a slash at its end',
    doc: 'Path that a proxy leaves in front of every request and socket, e.g. "/lingua"; this server removes it. Empty: none, or the proxy removes it.',
  }),
  console: boolean({
    default: true,
    doc: 'Serves the web console at `/`. Its files contain no data: what a person sees and may do depends on their token.',
  }),
  anonymous: list({
    of: choice({
      choices: ['session', 'node', 'metrics', 'viewer', 'operator'],
      default: 'session',
      doc: '',
    }),
    default: [],
    doc: 'Roles that need no token when they connect from `trusted_networks`. Legacy clients send none: `["session", "node"]` accepts them.',
  }),
  trusted_networks: list({
    of: network,
    default: ['127.0.0.0/8', '::1/128'],
    doc: 'Networks from which the roles of `anonymous` are accepted.',
  }),
  trusted_proxies: list({
    of: network,
    default: [],
    doc: 'Networks of the proxies in front of this server. For their requests the client address is the last one in X-Forwarded-For that is not a proxy; every other peer stands for itself, whatever it sends.',
  }),
  docs: boolean({ default: true, doc: 'Serves the description of the HTTP API at `/docs`.' }),
  allowed_hosts: list({
    of: hostName,
    default: [],
    doc: 'Names of this server, for peers without a token: their Host header must be an IP address, localhost, the name in `host` or `advertise_url`, the name of the machine, or one of these. It keeps pages whose name DNS points here from acting with the rights of `anonymous`.',
  }),
  allowed_origins: list({
    of: origin,
    default: [],
    doc: 'Origins of web pages on other hosts that may act without a token, over HTTP and sockets. Pages of the same host name, on any port, always may; local files (`file://`, `null`) and browser extensions only if listed. With a token the origin is not checked.',
  }),
  cors_origins: list({
    of: origin,
    default: [],
    doc: 'Origins of pages that may read HTTP answers (CORS).',
  }),
  endpoint_networks: list({
    of: network,
    default: [],
    doc: 'Networks in which the callback endpoints of nodes may be. Empty: endpoints are refused.',
  }),
  callback_key: optional(
    text({
      default: '',
      isSecret: true,
      pattern: /^\S{32,256}$/,
      allowed: '32 to 256 characters without spaces',
      doc: 'Key that signs every POST to a callback endpoint (operations.md); the same on every instance. Unset: they are not signed.',
    }),
  ),
  callback_key_file: optional(
    text({ default: '', doc: 'File that contains `callback_key`; read at the start.' }),
  ),
  token_keys: optional(
    text({
      default: '',
      isSecret: true,
      doc: 'Keys that sign and verify minted tokens (`POST /v1/tokens`), as a JSON Web Key Set: the first signs, all verify; the same on every instance. `lingua token key` prints one. Unset: no tokens are minted.',
    }),
  ),
  token_keys_file: optional(
    text({ default: '', doc: 'File that contains `token_keys`; read at the start and at a reload.' }),
  ),
  tokens: tables({
    doc: 'Who may connect with which token. Each has exactly one of `token`, `token_sha256`, `token_file`, `certificate`.',
    example: ['token_file = "secrets/client.token"', 'role = "client"', 'tenant_id = "acme"'],
    columns: {
      token: optional(
        text({ default: '', isSecret: true, doc: 'The token itself, 16 characters or longer.' }),
      ),
      token_sha256: optional(
        text({
          default: '',
          isSecret: true,
          pattern: /^[0-9a-fA-F]{64}$/,
          allowed: '64 hexadecimal digits',
          doc: 'SHA-256 of the token, so that the file contains no secret.',
        }),
      ),
      token_file: optional(
        text({ default: '', doc: 'File that contains the token; read at the start and at a reload.' }),
      ),
      certificate: optional(
        text({
          default: '',
          pattern: /^[^\s",]{1,253}$/,
          allowed: '1 to 253 characters without spaces, commas and quotation marks',
          doc: 'Instead of a token, for nodes: a name in the client certificate, either its common name or one of its alternative names (DNS or URI). Needs `server.tls.client_ca_file`.',
        }),
      ),
      role: required(
        choice({
          choices: ['node', 'client', 'metrics', 'viewer', 'operator', 'admin'],
          default: 'client',
          doc: 'The role of the token: [roles](roles.md).',
        }),
      ),
      tenant_id: optional(
        text({
          default: '',
          pattern: ID,
          allowed: ID_ALLOWED,
          doc: 'Tenant; required for the role client. A node with such a token serves only the jobs of this tenant.',
        }),
      ),
      node_ids: optional(
        list({
          of: text({ default: '', pattern: ID, allowed: ID_ALLOWED, doc: '' }),
          default: [],
          doc: 'The only node ids that a node with this token may use.',
        }),
      ),
      pool_ids: optional(
        list({
          of: integer({ default: 0, min: 0, max: MAX_POOL_ID, doc: '' }),
          default: [],
          doc: 'The only pools that a node with this token joins. A pool that is dedicated, or that a tenant is bound to, takes no other nodes than those with its pool_id here or with the tenant_id of its tenant.',
        }),
      ),
      region: optional(
        region(
          'Region of the nodes with this token, whatever they say: needed if tenants have a residency and nodes are not trusted.',
        ),
      ),
      may_mint: optional(
        boolean({
          default: false,
          doc: 'For the role client: may mint short-lived tokens for users of its tenant (`POST /v1/tokens`). For servers of the tenant, never for browsers.',
        }),
      ),
      name: optional(text({ default: '', doc: 'Name for logs.' })),
    },
  }),
  tls,
  drain_timeout_ms: integer({
    default: 30_000,
    min: 0,
    max: 600_000,
    unit: 'ms',
    doc: 'How long a stopping server waits for its sessions to move and its running jobs to end, in total.',
  }),
  request_timeout_ms: integer({
    default: 30_000,
    min: 1_000,
    max: 600_000,
    unit: 'ms',
    doc: 'How long a client may take to send a whole HTTP request.',
  }),
  headers_timeout_ms: integer({
    default: 10_000,
    min: 1_000,
    max: 600_000,
    unit: 'ms',
    doc: 'How long a client may take to send the headers of a request.',
  }),
  keep_alive_timeout_ms: integer({
    default: 72_000,
    min: 0,
    max: 3_600_000,
    unit: 'ms',
    doc: 'How long an idle HTTP connection stays open. Longer than the 60 s of common proxies, so that they close first.',
  }),
  ping_interval_ms: integer({
    default: 15_000,
    min: 100,
    max: 600_000,
    unit: 'ms',
    doc: 'How often sockets are pinged. A socket is closed as dead at most two intervals after the last byte from its peer.',
  }),
  limits,
});

export const log = group('Logs, as JSON lines on standard output.', {
  level: choice({
    choices: ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'],
    default: 'info',
    doc: 'Lowest level that is written. Recognised and translated text appears only at debug and below.',
  }),
  pretty: boolean({ default: false, doc: 'Writes readable text instead of JSON.' }),
});

export const audit = group('The audit log: who did what, as JSON lines apart from the log (security.md).', {
  file: text({
    default: 'off',
    allowed: 'a path, "stdout" or "off"',
    doc: 'File to which operator actions, refused credentials and reloads are appended; created with mode 0600, opened again after SIGHUP. `stdout`: standard output, where each line begins with `{"audit":`. `off`: none is written.',
  }),
});
