/** Tenants: what each uses of its caps, waits for and was refused. */
import { useResource } from '../data/use-resource.ts';
import { linkTo } from '../shell/router.ts';
import { count } from '../show/format.ts';
import { Answered, Empty, Loaded, Numeric, Table } from '../show/parts.tsx';
import { t, tOr } from '../texts/text.ts';

interface Tenant {
  readonly tenant_id: string;
  readonly sessions: number;
  readonly in_flight: number;
  readonly waiting: number;
  readonly admitted: number;
  readonly refused: Readonly<Record<string, number>>;
  readonly caps: Readonly<Record<string, number>>;
  readonly priority?: string;
}

interface TenantsReply {
  readonly tenants: readonly Tenant[];
  readonly answered: readonly string[];
  readonly unreachable: readonly string[];
  readonly truncated: boolean;
}

const REFRESH_MS = 5_000;

export function Tenants() {
  const resource = useResource<TenantsReply>('api/v1/tenants', REFRESH_MS);
  return (
    <>
      <h1>{t('nav.tenants')}</h1>
      <p class="quiet">{t('tenants.intro')}</p>
      <Loaded of={resource}>
        {({ tenants, answered, unreachable, truncated }) => (
          <>
            <Answered answered={answered} unreachable={unreachable} />
            {tenants.length === 0 ? <Empty>{t('tenants.empty')}</Empty> : <TenantTable tenants={tenants} />}
            {truncated && <p class="quiet">{t('page.truncated')}</p>}
          </>
        )}
      </Loaded>
    </>
  );
}

const ofCap = (used: number, cap: number | undefined): string =>
  cap === undefined ? count(used) : `${count(used)} / ${count(cap)}`;

function TenantTable({ tenants }: { tenants: readonly Tenant[] }) {
  return (
    <Table
      label={t('nav.tenants')}
      head={[
        t('column.tenant'),
        `#${t('nav.sessions')}`,
        `#${t('figure.in_flight')}`,
        `#${t('figure.waiting')}`,
        `#${t('tenants.admitted')}`,
        t('tenants.refused'),
        t('tenants.priority'),
      ]}
    >
      {tenants.map((tenant) => (
        <tr key={tenant.tenant_id}>
          <th scope="row">
            <a href={linkTo('jobs', '', { tenant_id: tenant.tenant_id })}>{tenant.tenant_id}</a>
          </th>
          <Numeric>{ofCap(tenant.sessions, tenant.caps.max_sessions)}</Numeric>
          <Numeric>{ofCap(tenant.in_flight, tenant.caps.max_inflight_jobs)}</Numeric>
          <Numeric>{ofCap(tenant.waiting, tenant.caps.max_waiting)}</Numeric>
          <Numeric>{count(tenant.admitted)}</Numeric>
          <td class="wrap">
            {Object.entries(tenant.refused)
              .map(([code, times]) => `${tOr(`error.${code}`, code)}: ${count(times)}`)
              .join(', ')}
          </td>
          <td>{tenant.priority === undefined ? '' : tOr(`priority.${tenant.priority}`, tenant.priority)}</td>
        </tr>
      ))}
    </Table>
  );
}
