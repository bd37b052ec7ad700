/** Settings of webhooks: events that the scheduler posts to other servers. */
import { list, optional, required, tables } from '../compound-setting.ts';
import { boolean, choice, group, integer, text, url } from '../setting.ts';

export const webhooks = group(
  'Events that are posted to other servers: jobs and rooms that ended, nodes that were lost, limits that tenants reached. See [webhooks](webhooks.md).',
  {
    timeout_ms: integer({
      default: 5_000,
      min: 100,
      max: 60_000,
      unit: 'ms',
      doc: 'How long a receiver may take to answer.',
    }),
    retry_for_ms: integer({
      default: 3_600_000,
      min: 0,
      max: 86_400_000,
      unit: 'ms',
      doc: 'How long an event that was not accepted is sent again: after 1 s at first, then at intervals that grow to 5 minutes. Then it is dropped.',
    }),
    max_waiting: integer({
      default: 1_000,
      min: 1,
      max: 1_000_000,
      doc: 'Events of one receiver that wait in the memory of an instance. Further ones are dropped.',
    }),
    receivers: tables({
      doc: 'Where events are posted. `server.endpoint_networks` must contain the address. Reloaded by SIGHUP, like tokens.',
      example: [
        'url = "https://example.org/lingua"',
        'tenant_id = "acme"',
        'secret_file = "secrets/webhook.key"',
      ],
      columns: {
        url: required(
          url({
            default: '',
            schemes: ['http', 'https'],
            doc: 'Address to which events are posted, without user and password.',
          }),
        ),
        tenant_id: optional(
          text({
            default: '',
            pattern: /^[A-Za-z0-9._:-]{1,128}$/,
            allowed: '1 to 128 letters, digits, or . _ : -',
            doc: 'The tenant whose events it gets. Unset: it gets the events for operators.',
          }),
        ),
        events: optional(
          list({
            of: choice({
              choices: ['job_ended', 'room_ended', 'node_lost', 'quota_reached'],
              default: 'job_ended',
              doc: '',
            }),
            default: [],
            doc: 'The events that it gets: `job_ended`, `room_ended` for a tenant; `node_lost`, `quota_reached` for operators. Unset: all of these.',
          }),
        ),
        secret: optional(
          text({
            default: '',
            isSecret: true,
            pattern: /^\S{32,256}$/,
            allowed: '32 to 256 characters without spaces',
            doc: 'Key that signs the events; the receiver has the same one.',
          }),
        ),
        secret_file: optional(
          text({ default: '', doc: 'File that contains `secret`; read at the start and at a reload.' }),
        ),
        texts: boolean({
          default: false,
          doc: 'Events contain what was said and its translation.',
        }),
        name: optional(text({ default: '', doc: 'Name for logs.' })),
      },
    }),
  },
);
