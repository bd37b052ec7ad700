/** Jobs of all instances: search by any id, filter by outcome, node, session, tenant and reason. */
import type { JobSummary, SearchReply } from '@lingua/protocol';
import { useResource } from '../data/use-resource.ts';
import { linkTo, route, setQuery } from '../shell/router.ts';
import { directionOf } from '../show/direction.ts';
import { duration } from '../show/format.ts';
import {
  Ago,
  Answered,
  Empty,
  JobLink,
  Loaded,
  NodeLink,
  Numeric,
  Rows,
  SessionLink,
  State,
  Table,
} from '../show/parts.tsx';
import { Search } from '../show/search.tsx';
import { t, tOr } from '../texts/text.ts';

const OUTCOMES = ['waiting', 'running', 'finished', 'failed', 'cancelled'] as const;
const FILTERS = ['node_id', 'session_id', 'tenant_id', 'reason'] as const;
const REFRESH_MS = 2_000;
const MOST = 100;

export function Jobs() {
  const { query } = route.value;
  const asked = new URLSearchParams({ kind: 'jobs', limit: String(MOST) });
  for (const name of ['q', 'outcome', ...FILTERS]) {
    const value = query.get(name) ?? '';
    if (value !== '') asked.set(name, value);
  }
  const resource = useResource<SearchReply>(`api/v1/search?${asked}`, REFRESH_MS, { isList: true });
  return (
    <>
      <h1>{t('nav.jobs')}</h1>
      <div class="filters">
        <Search name="q" label={t('jobs.search')} />
        <label>
          {t('column.outcome')}
          <select
            value={query.get('outcome') ?? ''}
            onChange={(event) => setQuery({ outcome: event.currentTarget.value })}
          >
            <option value="">{t('jobs.any')}</option>
            {OUTCOMES.map((outcome) => (
              <option key={outcome} value={outcome}>
                {t(`state.${outcome}`)}
              </option>
            ))}
          </select>
        </label>
        {FILTERS.filter((name) => (query.get(name) ?? '') !== '').map((name) => (
          <button key={name} type="button" aria-pressed="true" onClick={() => setQuery({ [name]: '' })}>
            {t(`filter.${name}`)}: {query.get(name)} ✕<span class="unseen">{t('filter.remove')}</span>
          </button>
        ))}
      </div>
      <Loaded of={resource}>
        {({ jobs, answered, unreachable, truncated }) => (
          <>
            <Answered answered={answered} unreachable={unreachable} />
            {jobs.length === 0 ? (
              <Empty>{t('jobs.empty')}</Empty>
            ) : (
              <Rows of={resource}>
                <JobTable jobs={jobs} />
              </Rows>
            )}
            {truncated && <p class="quiet">{t('page.truncated')}</p>}
          </>
        )}
      </Loaded>
    </>
  );
}

export function JobTable({ jobs }: { jobs: readonly JobSummary[] }) {
  return (
    <Table
      label={t('nav.jobs')}
      head={[
        t('column.job'),
        t('column.outcome'),
        t('column.languages'),
        t('column.node'),
        t('column.session'),
        `#${t('column.duration')}`,
        t('column.created'),
        t('column.reason'),
      ]}
    >
      {jobs.map((job) => (
        <tr key={job.job_id}>
          <th scope="row">
            <JobLink id={job.job_id} />
            {job.attempt_id > 1 && <span class="quiet"> {t('job.attempt', { number: job.attempt_id })}</span>}
          </th>
          <td>
            <State of={job.outcome} />
          </td>
          <td>{directionOf(job)}</td>
          <td>
            <NodeLink id={job.node_id} />
          </td>
          <td>
            <SessionLink id={job.session_id} />
          </td>
          <Numeric>{duration(job.updated_at_ms - job.created_at_ms)}</Numeric>
          <td>
            <Ago at={job.created_at_ms} />
          </td>
          <td>
            {job.reason !== undefined && (
              <a href={linkTo('jobs', '', { ...Object.fromEntries(route.value.query), reason: job.reason })}>
                {tOr(`error.${job.reason}`, job.reason)}
              </a>
            )}
          </td>
        </tr>
      ))}
    </Table>
  );
}
