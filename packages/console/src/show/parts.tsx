/** Small parts that every page uses: times, states, empty and failed views, lists of facts. */
import type { ComponentChildren } from 'preact';
import { clockAheadMs, tick } from '../data/live-feed.ts';
import type { RequestError } from '../data/request.ts';
import type { Resource } from '../data/use-resource.ts';
import { linkTo } from '../shell/router.ts';
import { t, tOr } from '../texts/text.ts';
import { absolute, clockTime, duration, UNKNOWN } from './format.ts';

const DAY_MS = 86_400_000;

/** How long ago; the exact time is in the title, and beside it with `full`. */
export function Ago({ at, full = false }: { at: number | undefined; full?: boolean }) {
  if (at === undefined) return <span>{UNKNOWN}</span>;
  const age = Math.max(0, tick.value + clockAheadMs.value - at);
  const relative =
    age < 1_000 ? t('time.now') : t('time.ago', { time: duration(Math.floor(age / 1_000) * 1_000) });
  return (
    <time dateTime={new Date(at).toISOString()} title={absolute(at)}>
      {full ? `${age < DAY_MS ? clockTime(at) : absolute(at)} · ${relative}` : relative}
    </time>
  );
}

/** A state in words, with a colour that never carries the meaning alone. */
export const State = ({ of }: { of: string }) => (
  <span class={`state state-${of}`}>{tOr(`state.${of}`, of)}</span>
);

export const Empty = ({ children }: { children: ComponentChildren }) => <p class="empty">{children}</p>;

export function Failure({ error, onRetry }: { error: RequestError; onRetry?: () => void }) {
  const words = tOr(`error.${error.code}`, '');
  const hint = tOr(`hint.${error.code}`, error.hint);
  return (
    <div class="failure" role="alert">
      <p>
        <strong>{words}</strong> {error.message} <code>{error.code}</code>
      </p>
      {hint !== '' && <p>{hint}</p>}
      {onRetry !== undefined && (
        <button type="button" onClick={onRetry}>
          {t('action.retry')}
        </button>
      )}
    </div>
  );
}

/** What a resource has: its error, its data, or that it is on its way. An old answer stays visible beside an error. */
export function Loaded<Reply>({
  of,
  children,
}: {
  of: Resource<Reply>;
  children: (data: Reply) => ComponentChildren;
}) {
  return (
    <>
      {of.error !== undefined && <Failure error={of.error} onRetry={of.reload} />}
      {of.data !== undefined
        ? children(of.data)
        : of.error === undefined && <Empty>{t('page.loading')}</Empty>}
    </>
  );
}

/** A list that is read again and again. Under a mouse its rows stay in place, so that a click meets the row that it was meant for. */
export function Rows({ of, children }: { of: Resource<unknown>; children: ComponentChildren }) {
  return (
    <div
      onPointerEnter={({ pointerType }) => of.hold(pointerType === 'mouse')}
      onPointerLeave={() => of.hold(false)}
    >
      <p class="quiet">{t(of.isHeld ? 'page.held' : 'page.refreshed')}</p>
      {children}
    </div>
  );
}

/** Which instances answered a search over all of them. */
export function Answered({
  answered,
  unreachable,
}: {
  answered?: readonly string[];
  unreachable?: readonly string[];
}) {
  if (unreachable !== undefined && unreachable.length > 0)
    return <p class="notice">{t('search.unreachable', { names: unreachable.join(', ') })}</p>;
  if (answered === undefined || answered.length < 2) return null;
  return <p class="quiet">{t('search.answered', { names: answered.join(', ') })}</p>;
}

export function Facts({ rows }: { rows: readonly (readonly [label: string, value: ComponentChildren])[] }) {
  return (
    <dl class="facts">
      {rows.map(([label, value]) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

export function Tile({
  label,
  value,
  note,
  tone = '',
  href,
}: {
  label: string;
  value: string;
  note?: string;
  tone?: '' | 'warning' | 'critical';
  href?: string;
}) {
  const content = (
    <>
      <span class="tile-label">{label}</span>
      <span class="tile-value">{value}</span>
      <span class="tile-note">{note ?? '\u00a0'}</span>
    </>
  );
  const kind = `tile ${tone}`;
  return href === undefined ? (
    <div class={kind}>{content}</div>
  ) : (
    <a class={kind} href={href}>
      {content}
    </a>
  );
}

type Id = { id: string | undefined };

const IdLink = ({ page, id }: Id & { page: 'node' | 'job' | 'session' }) =>
  id === undefined || id === '' ? (
    <span>{UNKNOWN}</span>
  ) : (
    <a class="id" href={linkTo(page, id)} title={id}>
      {id}
    </a>
  );

export const NodeLink = ({ id }: Id) => <IdLink page="node" id={id} />;
export const JobLink = ({ id }: Id) => <IdLink page="job" id={id} />;
export const SessionLink = ({ id }: Id) => <IdLink page="session" id={id} />;

/** Wide tables scroll inside of their box; a keyboard reaches the box. */
export function Table({
  label,
  head,
  children,
}: {
  label: string;
  head: readonly string[];
  children: ComponentChildren;
}) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keyboard.
    <section class="table-box" aria-label={label} tabIndex={0}>
      <table>
        <thead>
          <tr>
            {head.map((name) => (
              <th key={name} scope="col" class={name.startsWith('#') ? 'number' : ''}>
                {name.replace(/^#/, '')}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </section>
  );
}

export const Numeric = ({ children }: { children: ComponentChildren }) => <td class="number">{children}</td>;
