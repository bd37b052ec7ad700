/** The sessions of all instances, newest first. */
import type { FoundSession, SearchReply } from '@lingua/protocol';
import { useResource } from '../data/use-resource.ts';
import { route, setQuery } from '../shell/router.ts';
import { directionOf } from '../show/direction.ts';
import { count } from '../show/format.ts';
import { Ago, Answered, Empty, Loaded, Numeric, Rows, SessionLink, State, Table } from '../show/parts.tsx';
import { Search } from '../show/search.tsx';
import { t } from '../texts/text.ts';

const REFRESH_MS = 2_000;
const MOST = 100;

export function Sessions() {
  const { query } = route.value;
  const asked = new URLSearchParams({ kind: 'sessions', limit: String(MOST) });
  for (const name of ['q', 'tenant_id', 'connected']) {
    const value = query.get(name) ?? '';
    if (value !== '') asked.set(name, value);
  }
  const resource = useResource<SearchReply>(`api/v1/search?${asked}`, REFRESH_MS, { isList: true });
  const connected = query.get('connected') ?? '';
  return (
    <>
      <h1>{t('nav.sessions')}</h1>
      <div class="filters">
        <Search name="q" label={t('sessions.search')} />
        <label>
          {t('column.connection')}
          <select value={connected} onChange={(event) => setQuery({ connected: event.currentTarget.value })}>
            <option value="">{t('jobs.any')}</option>
            <option value="true">{t('sessions.connected')}</option>
            <option value="false">{t('sessions.disconnected')}</option>
          </select>
        </label>
      </div>
      <Loaded of={resource}>
        {({ sessions, answered, unreachable, truncated }) => (
          <>
            <Answered answered={answered} unreachable={unreachable} />
            {sessions.length === 0 ? (
              <Empty>{t('sessions.empty')}</Empty>
            ) : (
              <Rows of={resource}>
                <SessionTable sessions={sessions} />
              </Rows>
            )}
            {truncated && <p class="quiet">{t('page.truncated')}</p>}
          </>
        )}
      </Loaded>
    </>
  );
}

function SessionTable({ sessions }: { sessions: readonly FoundSession[] }) {
  const hasInstances = sessions.some((session) => session.instance_id !== '');
  return (
    <Table
      label={t('nav.sessions')}
      head={[
        t('column.session'),
        t('column.state'),
        t('column.connection'),
        t('column.languages'),
        `#${t('column.utterances')}`,
        `#${t('column.running')}`,
        t('column.tenant'),
        t('column.platform'),
        ...(hasInstances ? [t('column.instance')] : []),
        t('column.opened'),
      ]}
    >
      {sessions.map((session) => (
        <tr key={session.session_id}>
          <th scope="row">
            <SessionLink id={session.session_id} />
          </th>
          <td>
            <State of={session.state} />
          </td>
          <td>{t(session.connected ? 'sessions.connected' : 'sessions.disconnected')}</td>
          <td>{directionOf(session)}</td>
          <Numeric>{count(session.next_utterance_index)}</Numeric>
          <Numeric>{count(session.running_utterances)}</Numeric>
          <td>{session.tenant_id}</td>
          <td>{session.platform}</td>
          {hasInstances && <td>{session.instance_id}</td>}
          <td>
            <Ago at={session.opened_at_ms} />
          </td>
        </tr>
      ))}
    </Table>
  );
}
