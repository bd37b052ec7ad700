/** The command `lingua sessions`: the sessions of one instance. */
import type { SessionsReply, SessionView } from '@lingua/protocol';
import type { CommandIo } from '../command-io.ts';
import { printDuration } from '../duration.ts';
import {
  noWords,
  OPERATOR_FLAGS_USAGE,
  type OperatorCommand,
  runOperatorCommand,
  WATCH_USAGE,
} from '../operator-command.ts';
import { type Column, printTable } from '../print-table.ts';
import { readPages } from '../read-pages.ts';

const SESSIONS: OperatorCommand = {
  name: 'sessions',
  usage: `Usage: lingua sessions [options]

Shows the sessions of the instance at --url, newest first; "lingua cluster" shows how many each instance has. Exits with 0, or
with 1 if the scheduler did not answer.

  --tenant ID        only those of this tenant
  --limit N          how many (100)
${WATCH_USAGE}
${OPERATOR_FLAGS_USAGE}`,
  own: ['tenant', 'limit', 'watch'],
  async run(request) {
    noWords(request);
    const { io, isJson, flags, paint } = request;
    const query = { tenant_id: flags.tenant };
    const { rows, hasMore } = await readPages(request, '/api/v1/sessions', query, sessionsIn);
    if (isJson) io.out(JSON.stringify(rows, undefined, 2));
    else
      io.out(
        rows.length === 0 ? 'No sessions on this instance.' : printTable(columnsAt(Date.now()), rows, paint),
      );
    if (hasMore && !isJson) io.out('… and more; --limit N shows N.');
    return 0;
  },
};

export const runSessions = (argv: readonly string[], io: CommandIo): Promise<number> =>
  runOperatorCommand(SESSIONS, argv, io);

const sessionsIn = ({ sessions }: SessionsReply): readonly SessionView[] => sessions;

const columnsAt = (now: number): readonly Column<SessionView>[] => [
  { title: 'SESSION', cell: (session) => session.session_id },
  {
    title: 'STATE',
    cell: ({ state, connected }) => (connected ? state : `${state}, disconnected`),
    colour: ({ state, connected }) => (state === 'open' && connected ? 'green' : 'yellow'),
  },
  { title: 'OPEN FOR', cell: ({ opened_at_ms }) => printDuration(Math.max(0, now - opened_at_ms)) },
  { title: 'TENANT', cell: (session) => session.tenant_id },
  {
    title: 'PLATFORM',
    cell: (session) => (session.legacy ? `${session.platform} (legacy)` : session.platform),
  },
  { title: 'LANGUAGES', cell: ({ src_lang, tgt_lang }) => `${src_lang} to ${tgt_lang}` },
  { title: 'RUNNING', cell: (session) => session.running_utterances },
  { title: 'HELD BACK', cell: (session) => session.pending_results },
  { title: 'AUDIO BYTES', cell: (session) => session.audio_bytes },
];
