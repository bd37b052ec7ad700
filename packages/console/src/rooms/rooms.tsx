/** The rooms of a tenant, newest first, and opening one. */
import type { RoomList, RoomSummary, RoomView, TenantsReply } from '@lingua/protocol';
import { useState } from 'preact/hooks';
import { mayAct } from '../data/credentials.ts';
import { type RequestError, request } from '../data/request.ts';
import { useResource } from '../data/use-resource.ts';
import { linkTo, route, setQuery } from '../shell/router.ts';
import { count } from '../show/format.ts';
import { Ago, Empty, Failure, Loaded, Numeric, Rows, Table } from '../show/parts.tsx';
import { t } from '../texts/text.ts';
import { roomPath, tenantIn } from './room-path.ts';
import { tRoom } from './room-text.ts';
import '../styles/rooms.css';

const REFRESH_MS = 2_000;

export function Rooms() {
  const resource = useResource<RoomList>(roomPath(''), REFRESH_MS, { isList: true });
  return (
    <>
      <h1>{t('nav.rooms')}</h1>
      <p class="quiet">{tRoom('rooms.intro')}</p>
      {mayAct.value && <Tenant />}
      <Create />
      <Loaded of={resource}>
        {({ rooms }) =>
          rooms.length === 0 ? (
            <Empty>{tRoom('rooms.empty')}</Empty>
          ) : (
            <Rows of={resource}>
              <RoomTable rooms={[...rooms].reverse()} />
            </Rows>
          )
        }
      </Loaded>
    </>
  );
}

/** Operators see the rooms of every tenant, one at a time. */
function Tenant() {
  const { data } = useResource<TenantsReply>('api/v1/tenants');
  const chosen = route.value.query.get('tenant_id') ?? '';
  const known = data?.tenants.map(({ tenant_id }) => tenant_id) ?? [];
  const others = [...new Set([...known, chosen])].filter((id) => id !== '' && id !== 'default').sort();
  if (others.length === 0) return null;
  return (
    <div class="filters">
      <label>
        {t('column.tenant')}
        <select value={chosen} onChange={(event) => setQuery({ tenant_id: event.currentTarget.value })}>
          <option value="">default</option>
          {others.map((id) => (
            <option key={id}>{id}</option>
          ))}
        </select>
      </label>
    </div>
  );
}

function Create() {
  const [title, setTitle] = useState('');
  const [recorded, setRecorded] = useState(false);
  const [error, setError] = useState<RequestError>();
  const [isSending, setSending] = useState(false);
  const { query } = route.value;

  async function submit(event: Event): Promise<void> {
    event.preventDefault();
    setSending(true);
    setError(undefined);
    const named = title.trim();
    try {
      const body = { ...tenantIn(query), ...(named !== '' && { title: named }), recorded };
      const { room_id } = await request<RoomView>('v1/rooms', { method: 'POST', body });
      location.href = linkTo('room', room_id, tenantIn(query));
    } catch (fault) {
      setError(fault as RequestError);
    } finally {
      setSending(false);
    }
  }

  return (
    <form class="room-form" onSubmit={(event) => void submit(event)}>
      <label>
        {tRoom('rooms.title')}
        <input value={title} maxLength={100} onInput={(event) => setTitle(event.currentTarget.value)} />
      </label>
      <label class="check">
        <input
          type="checkbox"
          checked={recorded}
          onChange={(event) => setRecorded(event.currentTarget.checked)}
        />
        {tRoom('rooms.recorded')}
      </label>
      <button type="submit" class="filled" disabled={isSending}>
        {tRoom('rooms.create')}
      </button>
      {error !== undefined && <Failure error={error} />}
    </form>
  );
}

function RoomTable({ rooms }: { rooms: readonly RoomSummary[] }) {
  return (
    <Table
      label={t('nav.rooms')}
      head={[
        tRoom('rooms.room'),
        tRoom('rooms.code'),
        t('column.state'),
        `#${tRoom('rooms.members')}`,
        `#${tRoom('rooms.listeners')}`,
        tRoom('rooms.active'),
        t('column.opened'),
      ]}
    >
      {rooms.map((room) => (
        <tr key={room.room_id}>
          <th scope="row">
            <a href={linkTo('room', room.room_id, tenantIn(route.value.query))}>
              {room.title ?? room.room_id}
            </a>
          </th>
          <td>
            <code>{room.room_code}</code>
          </td>
          <td>
            <RoomState room={room} />
          </td>
          <Numeric>{count(room.members)}</Numeric>
          <Numeric>{count(room.listeners)}</Numeric>
          <td>
            <Ago at={room.active_at_ms} />
          </td>
          <td>
            <Ago at={room.created_at_ms} />
          </td>
        </tr>
      ))}
    </Table>
  );
}

export function RoomState({ room }: { room: Pick<RoomSummary, 'locked' | 'recorded'> }) {
  return (
    <span class="room-state">
      {room.locked && <span class="state">{tRoom('room.locked')}</span>}
      {room.recorded && <span class="state">{tRoom('room.is_recorded')}</span>}
    </span>
  );
}
