/** One session as a conversation: its utterances, results and interruptions on one time axis. */
import type { SessionDetail, SessionLogEntry, SessionUtterance, SessionView } from '@lingua/protocol';
import { mayAct } from '../data/credentials.ts';
import { clockAheadMs, tick } from '../data/live-feed.ts';
import { useResource } from '../data/use-resource.ts';
import { linkTo, route } from '../shell/router.ts';
import { directionOf } from '../show/direction.ts';
import { bytes, clockTime, count, duration } from '../show/format.ts';
import { OrderButton } from '../show/order-button.tsx';
import { Ago, Answered, Empty, Facts, JobLink, Loaded, State } from '../show/parts.tsx';
import { type AxisRow, type Mark, TimeAxis } from '../show/time-axis.tsx';
import { t, tOr } from '../texts/text.ts';

const REFRESH_MS = 2_000;
/** Of a long session the last ones are shown; all its jobs are one link away. */
const MOST_ROWS = 25;

export function SessionPage() {
  const { id } = route.value;
  const resource = useResource<SessionDetail>(`api/v1/sessions/${encodeURIComponent(id)}`, REFRESH_MS);
  return (
    <>
      <p class="crumbs">
        <a href={linkTo('sessions')}>{t('nav.sessions')}</a> / {id}
      </p>
      <Loaded of={resource}>{(detail) => <Detail detail={detail} onOrder={resource.reload} />}</Loaded>
    </>
  );
}

function Detail({ detail, onOrder }: { detail: SessionDetail; onOrder: () => void }) {
  const { session, utterances } = detail;
  return (
    <>
      <div class="title">
        <h1>{detail.session_id}</h1>
        <State of={session?.state ?? 'ended'} />
        <span class="buttons">
          {session !== undefined && session.state !== 'closing' && (
            <OrderButton
              label={t('order.close')}
              explanation={t('order.close_doc')}
              path={`api/v1/sessions/${encodeURIComponent(detail.session_id)}/close`}
              takesReason
              isDangerous
              onDone={onOrder}
            />
          )}
        </span>
      </div>
      <Answered answered={detail.answered} unreachable={detail.unreachable} />
      <section>
        <h2>{t('session.axis')}</h2>
        {utterances.length + detail.events.length === 0 ? (
          <Empty>{t('session.silent')}</Empty>
        ) : (
          <TimeAxis label={t('session.axis')} rows={rowsOf(detail)} now={tick.value + clockAheadMs.value} />
        )}
      </section>
      <section>
        <h2>{t('session.conversation')}</h2>
        {!mayAct.value && <p class="quiet">{t('job.hidden')}</p>}
        <ul class="conversation">
          {utterances.slice(-MOST_ROWS).map((job) => (
            <Utterance key={job.job_id} job={job} />
          ))}
        </ul>
        <p class="quiet">
          <a href={linkTo('jobs', '', { session_id: detail.session_id })}>{t('session.all_jobs')}</a>
        </p>
      </section>
      {session !== undefined && <About session={session} instance={detail.instance_id} />}
    </>
  );
}

/** First the connection, then one row per utterance: from its acceptance to its outcome. */
function rowsOf({ events, utterances }: SessionDetail): AxisRow[] {
  const mark = ({ at_ms, kind, detail }: SessionLogEntry): Mark => ({
    at: at_ms,
    kind,
    label: `${tOr(`event.${kind}`, kind)}${detail === undefined ? '' : `: ${detail}`}`,
  });
  const own = events.filter(({ utterance_index }) => utterance_index === undefined);
  const shown = utterances.slice(-MOST_ROWS);
  const first = shown[0]?.created_at_ms ?? 0;
  return [
    {
      key: 'connection',
      label: t('session.connection'),
      marks: own.filter(({ at_ms }) => at_ms >= first - 60_000).map(mark),
    },
    ...shown.map((job) => {
      const isOver = !['waiting', 'running'].includes(job.outcome);
      return {
        key: job.job_id,
        label: (
          <>
            {job.utterance_index}. <a href={linkTo('job', job.job_id)}>{job.node_id ?? job.job_id}</a>
          </>
        ),
        bars: [
          {
            from: job.created_at_ms,
            to: isOver ? job.updated_at_ms : undefined,
            kind: job.outcome === 'failed' ? 'failed' : 'run',
            label: tOr(`state.${job.outcome}`, job.outcome),
          },
        ],
        marks: events.filter((event) => event.utterance_index === job.utterance_index).map(mark),
      };
    }),
  ];
}

function Utterance({ job }: { job: SessionUtterance }) {
  return (
    <li>
      <p class="quiet">
        {clockTime(job.created_at_ms)} · {directionOf(job)} ·{' '}
        {duration(job.updated_at_ms - job.created_at_ms)} · <JobLink id={job.job_id} />{' '}
        <State of={job.outcome} />
      </p>
      {job.text_asr !== undefined && <p>{job.text_asr}</p>}
      {job.text_translated !== undefined && <p class="translated">{job.text_translated}</p>}
      {job.reason !== undefined && job.outcome !== 'finished' && (
        <p>{tOr(`error.${job.reason}`, job.reason)}</p>
      )}
    </li>
  );
}

function About({ session, instance }: { session: SessionView; instance: string | undefined }) {
  return (
    <section class="card">
      <h2>{t('session.about')}</h2>
      <Facts
        rows={[
          [t('column.connection'), t(session.connected ? 'sessions.connected' : 'sessions.disconnected')],
          [t('column.opened'), <Ago key="opened" at={session.opened_at_ms} full />],
          [t('column.tenant'), session.tenant_id],
          [t('column.platform'), session.platform],
          [t('column.instance'), instance ?? ''],
          [t('column.utterances'), count(session.next_utterance_index)],
          [t('column.running'), count(session.running_utterances)],
          [t('session.held'), count(session.pending_results)],
          [t('session.kept'), count(session.kept_results)],
          [t('session.audio'), bytes(session.audio_bytes)],
        ].filter((row): row is [string, string] => row[1] !== '')}
      />
    </section>
  );
}
