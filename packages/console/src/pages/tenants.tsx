/** Tenants: what each uses of its caps, waits for and was refused. */
import type { TenantLine, TenantsReply } from '@lingua/protocol';
import { useResource } from '../data/use-resource.ts';
import { linkTo } from '../shell/router.ts';
import { count, percent, rate, UNKNOWN } from '../show/format.ts';
import { Answered, Empty, Loaded, Numeric, Table } from '../show/parts.tsx';
import { t, tOr } from '../texts/text.ts';

const REFRESH_MS = 5_000;

export function Tenants() {
  const resource = useResource<TenantsReply>('api/v1/tenants', REFRESH_MS);
  return (
    <>
      <h1>{t('nav.tenants')}</h1>
      <p class="quiet">{t('tenants.intro')}</p>
      <Loaded of={resource}>
        {({ tenants, answered, unreachable }) => (
          <>
            <Answered answered={answered} unreachable={unreachable} />
            {tenants.length === 0 ? <Empty>{t('tenants.empty')}</Empty> : <TenantTable tenants={tenants} />}
          </>
        )}
      </Loaded>
    </>
  );
}

const ofCap = (used: number, cap: number | undefined): string =>
  cap === undefined ? count(used) : `${count(used)} / ${count(cap)}`;

function TenantTable({ tenants }: { tenants: readonly TenantLine[] }) {
  return (
    <Table
      label={t('nav.tenants')}
      head={[
        t('column.tenant'),
        `#${t('nav.sessions')}`,
        `#${t('figure.in_flight')}`,
        `#${t('figure.waiting')}`,
        `#${t('tenants.rate')}`,
        `#${t('tenants.share')}`,
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
          <Numeric>
            {tenant.caps.requests_per_second === undefined ? UNKNOWN : rate(tenant.caps.requests_per_second)}
          </Numeric>
          <Numeric>{percent(100 * tenant.share)}</Numeric>
          <td class="wrap">
            {Object.entries(tenant.refused)
              .map(([code, times]) => `${tOr(`error.${code}`, code)}: ${count(times)}`)
              .join(', ')}
          </td>
          <td>{tOr(`priority.${tenant.priority}`, tenant.priority)}</td>
        </tr>
      ))}
    </Table>
  );
}
