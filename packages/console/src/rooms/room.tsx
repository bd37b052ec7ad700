/** One room: who is in it, what is said, how late each language is, and its orders. */
import type { RoomView } from '@lingua/protocol';
import { useState } from 'preact/hooks';
import { useResource } from '../data/use-resource.ts';
import { linkTo, route } from '../shell/router.ts';
import { languageName } from '../show/format.ts';
import { OrderButton } from '../show/order-button.tsx';
import { Ago, Empty, Facts, Loaded, Table } from '../show/parts.tsx';
import { t } from '../texts/text.ts';
import { Invite } from './invite.tsx';
import { RoomLog } from './room-log.tsx';
import { roomPath, tenantIn } from './room-path.ts';
import { tRoom, tRoomOr } from './room-text.ts';
import { RoomState } from './rooms.tsx';
import '../styles/rooms.css';

const REFRESH_MS = 2_000;

export function RoomPage() {
  const { id, query } = route.value;
  const [hasEnded, setEnded] = useState(false);
  const resource = useResource<RoomView>(hasEnded ? '' : roomPath(id), REFRESH_MS);
  return (
    <>
      <p class="crumbs">
        <a href={linkTo('rooms', '', tenantIn(query))}>{t('nav.rooms')}</a> / {id}
      </p>
      {hasEnded ? (
        <Empty>{tRoom('room.has_ended')}</Empty>
      ) : resource.error?.status === 404 ? (
        <Empty>{tRoom('join_over.ROOM_NOT_FOUND')}</Empty>
      ) : (
        <Loaded of={resource}>
          {(room) => (
            <>
              <Title room={room} onOrder={resource.reload} onEnded={() => setEnded(true)} />
              <div class="columns">
                <About room={room} />
                <Invite room={room} />
              </div>
              <section>
                <h2>{tRoom('rooms.members')}</h2>
                {room.members.length === 0 ? (
                  <Empty>{tRoom('room.nobody')}</Empty>
                ) : (
                  <Members room={room} onOrder={resource.reload} />
                )}
                {room.listeners > 0 && (
                  <p class="quiet">{tRoom('room.more_listeners', { count: room.listeners })}</p>
                )}
              </section>
              <RoomLog key={room.room_id} room={room} onEnded={() => setEnded(true)} />
            </>
          )}
        </Loaded>
      )}
    </>
  );
}

/** Everybody who sees this page may give these orders: they are of the tenant's own token and of operators. */
function Title(props: {
  readonly room: RoomView;
  readonly onOrder: () => void;
  readonly onEnded: () => void;
}) {
  const { room } = props;
  return (
    <div class="title">
      <h1>{room.title ?? room.room_id}</h1>
      <RoomState room={room} />
      <span class="buttons">
        <OrderButton
          key={String(room.locked)}
          label={tRoom(room.locked ? 'room.unlock' : 'room.lock')}
          explanation={tRoom(room.locked ? 'room.unlock_doc' : 'room.lock_doc')}
          path={roomPath(room.room_id)}
          method="PATCH"
          body={{ locked: !room.locked }}
          isAllowed
          onDone={props.onOrder}
        />
        <OrderButton
          label={tRoom('room.end')}
          explanation={tRoom('room.end_doc')}
          path={roomPath(room.room_id)}
          method="DELETE"
          isAllowed
          isDangerous
          onDone={props.onEnded}
        />
      </span>
    </div>
  );
}

function About({ room }: { room: RoomView }) {
  return (
    <section class="card">
      <Facts
        rows={[
          [tRoom('rooms.code'), <code key="code">{room.room_code}</code>],
          [t('column.tenant'), room.tenant_id],
          [t('column.opened'), <Ago key="opened" at={room.created_at_ms} full />],
        ]}
      />
    </section>
  );
}

const nameOf = (language: string | undefined): string =>
  language === undefined ? '' : languageName(language);

function Members({ room, onOrder }: { room: RoomView; onOrder: () => void }) {
  return (
    <Table
      label={tRoom('rooms.members')}
      head={[
        tRoom('room.name'),
        tRoom('room.role'),
        tRoom('room.speaks'),
        tRoom('room.hears'),
        t('column.state'),
        tRoom('room.since'),
        '',
      ]}
    >
      {room.members.map((member) => {
        const name = member.display_name ?? tRoom('room.unnamed');
        return (
          <tr key={member.session_id}>
            <th scope="row">{name}</th>
            <td>{tRoomOr(`room_role.${member.role}`, member.role)}</td>
            <td>{nameOf(member.channel ?? member.speaks)}</td>
            <td>{nameOf(member.hears)}</td>
            <td>
              {member.muted === true && <span class="state">{tRoom('room.muted')}</span>}
              {member.away === true && <span class="state state-waiting">{tRoom('room.away')}</span>}
            </td>
            <td>
              <Ago at={member.joined_at_ms} />
            </td>
            <td>
              <OrderButton
                label={tRoom('room.erase')}
                explanation={tRoom('room.erase_doc', { name })}
                path={roomPath(room.room_id, `/members/${encodeURIComponent(member.session_id)}/texts`)}
                method="DELETE"
                isAllowed
                isPlain
                onDone={onOrder}
              />
            </td>
          </tr>
        );
      })}
    </Table>
  );
}
