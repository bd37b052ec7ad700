/** One job: its stages and attempts on one time axis, why this node, its result and its sound. */
import type { JobDetail, JobSpan, JobView } from '@lingua/protocol';
import { useEffect, useState } from 'preact/hooks';
import { mayAct } from '../data/credentials.ts';
import { clockAheadMs, tick } from '../data/live-feed.ts';
import { type RequestError, send } from '../data/request.ts';
import { useResource } from '../data/use-resource.ts';
import { linkTo, route } from '../shell/router.ts';
import { directionOf, sidesOf } from '../show/direction.ts';
import { clockTime, count, duration } from '../show/format.ts';
import { OrderButton } from '../show/order-button.tsx';
import { Ago, Facts, Failure, Loaded, NodeLink, SessionLink, State, Table } from '../show/parts.tsx';
import { ReportButton } from '../show/report-button.tsx';
import { type AxisRow, TimeAxis } from '../show/time-axis.tsx';
import { t, tOr } from '../texts/text.ts';

const REFRESH_MS = 1_000;
/** A request without a session has a time in place of the position of its utterance. */
const MOST_UTTERANCES = 1_000_000_000;
const isEnded = ({ outcome }: JobView): boolean => !['waiting', 'running'].includes(outcome);

export function JobPage() {
  const { id } = route.value;
  const [ended, setEnded] = useState(false);
  const resource = useResource<JobDetail>(`api/v1/jobs/${encodeURIComponent(id)}`, ended ? 0 : REFRESH_MS);
  const isOver = resource.data !== undefined && isEnded(resource.data.job);
  useEffect(() => setEnded(isOver), [isOver]);
  return (
    <>
      <p class="crumbs">
        <a href={linkTo('jobs')}>{t('nav.jobs')}</a> / {id}
      </p>
      <Loaded of={resource}>{(detail) => <Detail detail={detail} onOrder={resource.reload} />}</Loaded>
    </>
  );
}

function Detail({ detail, onOrder }: { detail: JobDetail; onOrder: () => void }) {
  const { job } = detail;
  const total = (isEnded(job) ? job.updated_at_ms : tick.value + clockAheadMs.value) - job.created_at_ms;
  return (
    <>
      <div class="title">
        <h1>{job.job_id}</h1>
        <State of={job.outcome} />
        <span class="quiet">{duration(Math.max(0, total))}</span>
        <span class="buttons">
          {isEnded(job) && <ReportButton jobId={job.job_id} onDone={onOrder} />}
          {!isEnded(job) && (
            <OrderButton
              label={t('order.cancel_job')}
              explanation={t('order.cancel_job_doc')}
              path={`v1/job/${encodeURIComponent(job.job_id)}/cancel`}
              takesReason
              isDangerous
              onDone={onOrder}
            />
          )}
        </span>
      </div>
      {job.reason !== undefined && <p class="notice warning">{tOr(`error.${job.reason}`, job.reason)}</p>}
      <section>
        <h2>{t('job.timeline')}</h2>
        <TimeAxis label={t('job.timeline')} rows={rowsOf(detail)} now={tick.value + clockAheadMs.value} />
        <p class="quiet">{stagesInWords(detail)}</p>
      </section>
      <div class="columns">
        <Result job={job} />
        <About detail={detail} />
      </div>
      <Steps job={job} />
    </>
  );
}

/** A record has no separate time of the reserve. */
const stageName = (stage: JobSpan['stage']): string =>
  stage === 'send' ? t('job.reserve_send') : tOr(`stage.${stage}`, stage);

/** One row per attempt with its stages, and one for what happens outside of attempts. */
function rowsOf({ spans }: JobDetail): AxisRow[] {
  const rows = new Map<number, JobSpan[]>();
  for (const span of spans) rows.set(span.attempt_id ?? 0, [...(rows.get(span.attempt_id ?? 0) ?? []), span]);
  const toBar = (span: JobSpan) => ({
    from: span.from_ms,
    to: span.to_ms,
    kind: span.ended === undefined ? span.stage : 'failed',
    label: `${stageName(span.stage)}${span.ended === undefined ? '' : ` (${tOr(`error.${span.ended}`, span.ended)})`}`,
  });
  return [...rows].map(([attempt, all]): AxisRow => {
    if (attempt === 0) return { key: 'job', label: t('job.scheduler'), bars: all.map(toBar) };
    const [{ node_id }] = all as [JobSpan];
    const stages = all.filter(({ stage }) => stage !== 'attempt');
    const failed = all.find(({ stage, ended }) => stage === 'attempt' && ended !== undefined);
    const label = (
      <>
        {attempt}. <NodeLink id={node_id} />
      </>
    );
    const bars = failed !== undefined ? [failed, ...stages.slice(0, -1)] : stages.length > 0 ? stages : all;
    return { key: `attempt${attempt}`, label, bars: bars.map(toBar) };
  });
}

/** Short stages are too narrow on the axis for a label. */
const stagesInWords = ({ spans }: JobDetail): string => {
  const isRetried = spans.some(({ attempt_id = 0 }) => attempt_id > 1);
  return spans
    .filter(({ stage, to_ms }) => stage !== 'attempt' && to_ms !== undefined)
    .map(({ stage, attempt_id, from_ms, to_ms = from_ms }) => {
      const attempt = isRetried && stage === 'send' ? `${attempt_id}. ` : '';
      return `${attempt}${stageName(stage)} ${duration(to_ms - from_ms)}`;
    })
    .join(' · ');
};

function Result({ job }: { job: JobView }) {
  const { result } = job;
  const sides = sidesOf(job);
  return (
    <section class="card">
      <h2>{t('job.result')}</h2>
      {!mayAct.value ? (
        <p class="quiet">{t('job.hidden')}</p>
      ) : result === undefined ? (
        <p class="quiet">{t('job.no_result')}</p>
      ) : (
        <>
          <dl class="spoken">
            <Words label={t('job.recognised')} language={sides?.from} text={result.text_asr} />
            <Words label={t('job.translated')} language={sides?.to} text={result.text_translated} />
          </dl>
          {(result.extra as { simulated?: boolean } | undefined)?.simulated === true && (
            <p class="notice">{t('job.simulated')}</p>
          )}
          {result.tts_audio !== undefined && result.tts_audio !== '' && <Sound jobId={job.job_id} />}
        </>
      )}
    </section>
  );
}

/** A job that is one stage, or has typed text, yields only some of the texts. */
function Words({
  label,
  language,
  text = '',
}: {
  label: string;
  language: string | undefined;
  text: string | undefined;
}) {
  if (text === '') return null;
  return (
    <>
      <dt>
        {label} {language && `(${language})`}
      </dt>
      <dd lang={language}>{text}</dd>
    </>
  );
}

/** The sound is fetched with the token, which an audio element could not send. */
function Sound({ jobId }: { jobId: string }) {
  const [source, setSource] = useState('');
  const [error, setError] = useState<RequestError>();
  useEffect(() => () => URL.revokeObjectURL(source), [source]);
  const load = async (): Promise<void> => {
    try {
      const reply = await send(`v1/job/${encodeURIComponent(jobId)}/audio`);
      setSource(URL.createObjectURL(await reply.blob()));
    } catch (fault) {
      setError(fault as RequestError);
    }
  };
  if (error !== undefined) return <Failure error={error} />;
  if (source === '')
    return (
      <button type="button" onClick={() => void load()}>
        {t('job.listen')}
      </button>
    );
  // biome-ignore lint/a11y/useMediaCaption: its text is above.
  return <audio controls autoplay src={source} />;
}

function About({ detail: { job, choice, reports } }: { detail: JobDetail }) {
  return (
    <section class="card">
      <h2>{t('job.about')}</h2>
      <Facts
        rows={[
          [t('column.languages'), directionOf(job)],
          [t('column.node'), <NodeLink key="node" id={job.node_id} />],
          [t('column.session'), <SessionLink key="session" id={job.session_id} />],
          [t('job.utterance'), job.utterance_index < MOST_UTTERANCES ? count(job.utterance_index) : ''],
          [t('column.tenant'), job.tenant_id ?? ''],
          [t('column.created'), <Ago key="created" at={job.created_at_ms} full />],
          [t('job.deadline'), job.deadline_at_ms === undefined ? '' : clockTime(job.deadline_at_ms)],
          [
            t('job.request'),
            job.request_id === undefined ? '' : <Request key="request" id={job.request_id} />,
          ],
          [t('job.trace'), job.trace_id ?? ''],
        ].filter((row): row is [string, string] => row[1] !== '')}
      />
      {choice !== undefined && (
        <>
          <h2 class="side">{t('job.why')}</h2>
          <p>
            {t('job.why_text', { eligible: count(choice.eligible_nodes), total: count(choice.total_nodes) })}
          </p>
          <Facts
            rows={choice.reasons.map(({ reason, count: nodes }) => [
              tOr(`reject.${reason}`, reason),
              t('languages.cell_nodes', { count: nodes }),
            ])}
          />
        </>
      )}
      {reports.length > 0 && (
        <>
          <h2 class="side">{t('job.reports')}</h2>
          <Facts
            rows={reports.map(({ at_ms, kind, note }) => [
              clockTime(at_ms),
              [tOr(`report.${kind}`, kind), note].filter(Boolean).join(': '),
            ])}
          />
        </>
      )}
    </section>
  );
}

/** A request for several languages has several jobs: their ids consist of its name and their part. */
function Request({ id }: { id: string }) {
  const [, name, part] = /^~[^/]*\/(.*)\/([^/]*)$/.exec(id) ?? [];
  if (name === undefined) return <>{id}</>;
  return (
    <>
      <a href={linkTo('jobs', '', { q: name })}>{name}</a> <span class="quiet">({part})</span>
    </>
  );
}

function Steps({ job }: { job: JobView }) {
  return (
    <section>
      <h2>{t('job.steps')}</h2>
      <Table
        label={t('job.steps')}
        head={[
          t('column.time'),
          t('column.state'),
          t('column.node'),
          t('column.attempt'),
          t('column.reason'),
        ]}
      >
        {job.timeline.map((step, index) => (
          <tr key={index}>
            <td>
              {clockTime(step.at_ms)} <span class="quiet">+{duration(step.at_ms - job.created_at_ms)}</span>
            </td>
            <td>{step.state}</td>
            <td>{step.node_id === undefined ? '' : <NodeLink id={step.node_id} />}</td>
            <td>{step.attempt_id === 0 ? '' : step.attempt_id}</td>
            <td class="wrap">{step.reason ?? ''}</td>
          </tr>
        ))}
      </Table>
    </section>
  );
}
