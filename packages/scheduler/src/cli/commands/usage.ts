/** The command `lingua usage`: what tenants have used. */
import type { UsageReply, UsageRow } from '@lingua/protocol';
import type { CommandIo } from '../command-io.ts';
import {
  noWords,
  OPERATOR_FLAGS_USAGE,
  type OperatorCommand,
  runOperatorCommand,
  WATCH_USAGE,
} from '../operator-command.ts';
import { type Column, printTable } from '../print-table.ts';

const USAGE: OperatorCommand = {
  name: 'usage',
  usage: `Usage: lingua usage [options]

Shows what tenants have used, in whole hours (UTC): results, seconds of audio and voice, characters. Exits with 0, or with 1 if the
scheduler did not answer.

  --from TIME        begin, as 2026-11-01 or 2026-11-01T08:00Z (24 hours ago)
  --to TIME          end (now)
  --by LIST          what each row is about: tenant, stage, language, hour, day (tenant,stage,language)
  --tenant ID        only this tenant
${WATCH_USAGE}
${OPERATOR_FLAGS_USAGE}`,
  own: ['from', 'to', 'by', 'tenant', 'watch'],
  async run(request) {
    noWords(request);
    const { io, isJson, flags, client, paint } = request;
    const by = flags.by ?? 'tenant,stage,language';
    const fields = { from: flags.from, to: flags.to, group_by: by, tenant_id: flags.tenant };
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries(fields)) if (value !== undefined) query.set(name, value);
    const usage = await client.call<UsageReply>('GET', `/api/v1/usage?${query}`);
    const columns = columnsBy(by);
    if (isJson) io.out(JSON.stringify(usage, undefined, 2));
    else {
      const { from, to, rows } = usage;
      io.out(`${from} to ${to}`);
      io.out(rows.length === 0 ? 'Nothing was used.' : printTable(columns, rows, paint));
    }
    return 0;
  },
};

export const runUsage = (argv: readonly string[], io: CommandIo): Promise<number> =>
  runOperatorCommand(USAGE, argv, io);

const GROUPS: Readonly<Record<string, Column<UsageRow>>> = {
  tenant: { title: 'TENANT', cell: (row) => row.tenant_id },
  stage: { title: 'STAGE', cell: (row) => row.stage },
  language: { title: 'LANGUAGE', cell: (row) => row.language },
  hour: { title: 'HOUR', cell: (row) => row.hour },
  day: { title: 'DAY', cell: (row) => row.day },
};

const columnsBy = (by: string): readonly Column<UsageRow>[] => [
  ...by.split(',').flatMap((group) => GROUPS[group.trim()] ?? []),
  { title: 'RESULTS', cell: (row) => row.results },
  { title: 'UNMEASURED', cell: (row) => row.unmeasured },
  { title: 'AUDIO S', cell: (row) => row.audio_seconds },
  { title: 'CHARACTERS', cell: (row) => row.characters },
  { title: 'VOICE S', cell: (row) => row.voice_seconds },
];
