/** Settings of several instances on Redis: presence, inboxes, dead letters, connections. */
import { list, optional } from '../compound-setting.ts';
import { boolean, choice, group, ignored, integer, number, text, url } from '../setting.ts';

const REDIS = ['redis', 'rediss'];

const redis = group('The Redis or Valkey that all instances share.', {
  mode: choice({ choices: ['single', 'sentinel', 'cluster'], default: 'single', doc: 'How it is deployed.' }),
  url: url({ default: 'redis://127.0.0.1:6379', schemes: REDIS, doc: 'Its address in mode single.' }),
  cluster_urls: list({
    of: url({ default: '', schemes: REDIS, doc: '' }),
    default: [],
    doc: 'Some of its addresses in mode cluster. Empty: `url` is the first one.',
  }),
  sentinel_urls: list({
    of: url({ default: '', schemes: REDIS, doc: '' }),
    default: [],
    doc: 'Addresses of the Sentinels in mode sentinel.',
  }),
  sentinel_name: text({
    default: 'mymaster',
    pattern: /^[A-Za-z0-9._-]{1,128}$/,
    allowed: '1 to 128 letters, digits, or . _ -',
    doc: 'Name of the master at the Sentinels.',
  }),
  sentinel_username: optional(text({ default: '', doc: 'User at the Sentinels.' })),
  sentinel_password: optional(text({ default: '', isSecret: true, doc: 'Password at the Sentinels.' })),
  username: optional(text({ default: '', doc: 'User; overrides the one in the address.' })),
  password: optional(
    text({ default: '', isSecret: true, doc: 'Password; overrides the one in the address.' }),
  ),
  db: integer({ default: 0, min: 0, max: 1_023, doc: 'Database number; always 0 in mode cluster.' }),
  tls: boolean({
    default: false,
    doc: 'Encrypts all connections, including Sentinels; any address with rediss:// does so as well.',
  }),
  tls_ca_file: optional(
    text({ default: '', doc: 'File with the certificates to trust instead of the system’s.' }),
  ),
  tls_cert_file: optional(
    text({
      default: '',
      doc: 'File with the client certificate for servers that require one (tls-auth-clients); needs `tls_key_file`.',
    }),
  ),
  tls_key_file: optional(
    text({ default: '', doc: 'File with the key of that certificate, without a passphrase.' }),
  ),
  key_prefix: text({
    default: 'lingua',
    pattern: /^[A-Za-z0-9._:-]{1,64}$/,
    allowed: '1 to 64 letters, digits, or . _ : -',
    doc: 'First part of every key.',
  }),
  connect_timeout_ms: integer({
    default: 2_000,
    min: 50,
    max: 60_000,
    unit: 'ms',
    doc: 'How long connecting may take.',
  }),
  command_timeout_ms: integer({
    default: 800,
    min: 10,
    max: 60_000,
    unit: 'ms',
    doc: 'How long one command may take.',
  }),
  socket_timeout_ms: integer({
    default: 2_500,
    min: 50,
    max: 60_000,
    unit: 'ms',
    doc: 'Time without data after which a connection with pending commands is replaced.',
  }),
  slots_refresh_interval_ms: integer({
    default: 1_000,
    min: 100,
    max: 60_000,
    unit: 'ms',
    doc: 'How often the slot map of the cluster is read again.',
  }),
});

const alwaysThere = 'Node snapshots are always replicated.';
const noSchemaCompat = 'The state it stood for is derived or part of the request binding.';

export const cluster = group('Several instances on one Redis.', {
  enabled: boolean({
    default: false,
    doc: 'Shares state with other instances through Redis; otherwise this process works alone and needs no Redis.',
  }),
  instance_id: text({
    default: 'auto',
    pattern: /^[A-Za-z0-9._:-]{1,128}$/,
    allowed: '"auto", or 1 to 128 letters, digits, or . _ : -',
    doc: 'Unique name of this instance; `auto` makes one.',
  }),
  durability: choice({
    choices: ['primary', 'replica'],
    default: 'primary',
    doc: 'With `replica` a write counts only when a replica has it, so that a failover loses no acknowledged write.',
  }),
  owner_ttl_seconds: ignored(
    'An instance owns a node or a session until another one takes it over, or it is dead: see scheduler.heartbeat_interval_seconds.',
  ),
  stream_block_ms: integer({
    default: 1_000,
    min: 10,
    max: 60_000,
    unit: 'ms',
    doc: 'How long one read of the inbox waits.',
  }),
  stream_count: integer({ default: 64, min: 1, max: 10_000, doc: 'Entries of one read.' }),
  stream_group: text({
    default: 'scheduler',
    pattern: /^[A-Za-z0-9._:-]{1,128}$/,
    allowed: '1 to 128 letters, digits, or . _ : -',
    doc: 'Name of the consumer group.',
  }),
  stream_maxlen: integer({
    default: 10_000,
    min: 100,
    max: 10_000_000,
    doc: 'Entries in an inbox; at the limit senders are refused, and nothing is trimmed.',
  }),
  reclaim_idle_ms: integer({
    default: 5_000,
    min: 100,
    max: 600_000,
    unit: 'ms',
    doc: 'Age at which an entry that was read but not handled is read again.',
  }),
  dlq_enabled: boolean({
    default: true,
    doc: 'Entries that cannot be handled go to the dead letters; otherwise they are dropped and counted.',
  }),
  dlq_maxlen: integer({
    default: 10_000,
    min: 1,
    max: 10_000_000,
    doc: 'Dead letters that are kept, for each instance; of them, one tenant has at most scheduler.tenant_limits.max_share_percent.',
  }),
  dlq_retention_seconds: number({
    default: 604_800,
    min: 0,
    max: 31_536_000,
    unit: 'seconds',
    doc: 'Age at which a dead letter is removed; 0: it stays until dlq_maxlen.',
  }),
  dlq_max_deliveries: integer({
    default: 10,
    min: 1,
    max: 1_000,
    doc: 'Deliveries after which an entry is a dead letter.',
  }),
  dlq_min_idle_ms: integer({
    default: 5_000,
    min: 100,
    max: 600_000,
    unit: 'ms',
    doc: 'Time since its last delivery before an entry may become a dead letter.',
  }),
  dlq_scan_interval_ms: integer({
    default: 5_000,
    min: 1_000,
    max: 600_000,
    unit: 'ms',
    doc: 'How often stuck entries are searched.',
  }),
  dlq_scan_count: integer({ default: 100, min: 1, max: 10_000, doc: 'Entries of one such search.' }),
  cluster_key_file: optional(
    text({
      default: '',
      doc: 'File with keys that all instances share, one per line: an id and 32 bytes in base64; the first signs, all are accepted. Instances sign their requests for audio with it, so that read access to Redis opens no audio. Without it, messages in Redis contain tokens for the audio of running jobs.',
    }),
  ),
  payload_key_file: optional(
    text({
      default: '',
      doc: 'File with keys like `cluster_key_file`: what people said, and the terms of glossaries, are sealed with the first one (AES-256-GCM) before they are written to Redis, and opened with any of them. All instances need the same keys; one that lacks the key in use does not start.',
    }),
  ),
  redis,
  node_snapshot: group('What instances know of each other’s nodes.', {
    enabled: ignored(alwaysThere),
    presence_ttl_seconds: ignored(
      'A node counts as present for about three of its heartbeats: see scheduler.node_health.heartbeat_interval_seconds and scheduler.heartbeat_stale_ms.',
    ),
    refresh_interval_ms: integer({
      default: 2_000,
      min: 200,
      max: 600_000,
      unit: 'ms',
      doc: 'How often the replica is compared with Redis, in case a notice was lost.',
    }),
    remove_stale_after_seconds: number({
      default: 600,
      min: 0,
      max: 604_800,
      unit: 'seconds',
      doc: 'Age at which an absent node is removed; 0 is never.',
    }),
  }),
  schema_compat: group('Keys of earlier configuration files.', {
    enabled: ignored(noSchemaCompat),
    stats_snapshot_enabled: ignored(noSchemaCompat),
    stats_snapshot_ttl_seconds: ignored(noSchemaCompat),
    stats_snapshot_interval_ms: ignored(noSchemaCompat),
    node_caps_enabled: ignored(noSchemaCompat),
    node_caps_ttl_seconds: ignored(noSchemaCompat),
    session_bind_enabled: ignored(noSchemaCompat),
    session_bind_ttl_seconds: ignored(noSchemaCompat),
  }),
});
