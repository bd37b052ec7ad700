/** Checks the receivers of webhooks, and fills in their secrets. Pure. */
import { isIP } from 'node:net';
import type { CheckFinding } from '../origin.ts';
import type { Config } from '../settings.ts';

type Row = Config['webhooks']['receivers'][number];

const TENANT_EVENTS: ReadonlySet<string> = new Set(['job_ended', 'room_ended']);
const SECRET = /^\S{32,256}$/;

/** The events that a receiver gets. */
export const eventsOf = ({ events, tenant_id }: Row): readonly string[] =>
  events ?? (tenant_id === undefined ? ['node_lost', 'quota_reached'] : [...TENANT_EVENTS]);

export function checkWebhooks({ webhooks, server }: Config): {
  readonly problems: readonly CheckFinding[];
  readonly warnings: readonly CheckFinding[];
} {
  const problems: CheckFinding[] = [];
  const warnings: CheckFinding[] = [];
  const seen = new Map<string, number>();
  for (const [index, row] of webhooks.receivers.entries()) {
    const at = `webhooks.receivers[${index}]`;
    const refuse = (key: string, message: string): void => void problems.push({ keys: [key], message });
    if ([row.secret, row.secret_file].filter((part) => part !== undefined).length !== 1)
      refuse(at, 'needs exactly one of secret, secret_file');
    if (row.secret !== undefined && !SECRET.test(row.secret))
      refuse(at, 'has a secret that is not 32 to 256 characters without spaces');
    if (URL.canParse(row.url)) {
      const { username, password, hostname } = new URL(row.url);
      if (username !== '' || password !== '')
        refuse(`${at}.url`, 'contains a user or password; the receiver recognises events by their signature');
      if (server.endpoint_networks.length === 0)
        warnings.push({
          keys: [`${at}.url`],
          message: `gets nothing before server.endpoint_networks contains the network of ${isIP(hostname) === 0 ? 'that server' : hostname}`,
        });
    }
    for (const event of eventsOf(row)) {
      if (TENANT_EVENTS.has(event) === (row.tenant_id !== undefined)) continue;
      refuse(
        `${at}.events`,
        row.tenant_id === undefined
          ? `contains ${event}, which needs tenant_id`
          : `contains ${event}, which is for operators: remove it, or tenant_id`,
      );
    }
    if (row.texts && row.tenant_id === undefined)
      refuse(`${at}.texts`, 'needs tenant_id: events for operators contain no texts');
    const key = `${row.tenant_id ?? ''} ${row.url}`;
    const first = seen.get(key);
    if (first === undefined) seen.set(key, index);
    else refuse(at, `has the url and tenant_id of webhooks.receivers[${first}]`);
  }
  return { problems, warnings };
}

/** Fills in the contents of secret files, by the index of their row. */
export const withSecrets = (config: Config, contents: ReadonlyMap<number, string>): Config => ({
  ...config,
  webhooks: {
    ...config.webhooks,
    receivers: config.webhooks.receivers.map((row, index) => {
      const secret = contents.get(index);
      return secret === undefined ? row : { ...row, secret, secret_file: undefined };
    }),
  },
});
