/** What a minted token allows a client: one session, some languages; or, as a guest, one room. Pure. */
import type { SessionId } from '../../domain/ids.ts';
import { foldLanguage, type Language } from '../../domain/language.ts';
import type { RoomId, RoomRole } from '../../domain/room.ts';

export interface TokenScope {
  readonly sessionId?: SessionId;
  /** Folded; `auto` among them allows a source that is not named. */
  readonly languages?: ReadonlySet<Language>;
  /** A guest: it acts in this room, and otherwise not for its tenant. */
  readonly room?: {
    readonly roomId: RoomId;
    readonly role: RoomRole;
    readonly language?: Language | undefined;
  };
}

/** `roomId`: the room that the request names, if it is one for guests. Undefined: the scope allows it. */
export function guestRefusal(
  scope: TokenScope | undefined,
  request: { readonly isForGuests: boolean; readonly roomId?: string | undefined },
): ScopeRefusal | undefined {
  const room = scope?.room;
  if (room === undefined) return undefined;
  if (!request.isForGuests) return { field: '', message: `this token opens only the room ${room.roomId}` };
  if (request.roomId === undefined || request.roomId === room.roomId) return undefined;
  return { field: '/id', message: `this token opens only the room ${room.roomId}` };
}

const FIELDS = ['src_lang', 'tgt_lang', 'lang_a', 'lang_b'] as const;
const LISTS = ['auto_langs', 'tgt_langs'] as const;

type Named = { readonly [Field in (typeof FIELDS)[number]]?: string | undefined } & {
  readonly auto_langs?: readonly string[] | undefined;
  readonly tgt_langs?: readonly string[] | undefined;
};

export interface ScopeRefusal {
  /** As a JSON pointer. */
  readonly field: string;
  readonly message: string;
}

/** Undefined: the scope allows it. */
export function languageRefusal(scope: TokenScope | undefined, named: Named): ScopeRefusal | undefined {
  const languages = scope?.languages;
  if (languages === undefined) return undefined;
  const isAllowed = (tag: string | undefined): boolean =>
    tag === undefined || languages.has(foldLanguage(tag));
  const field =
    LISTS.find((name) => !(named[name] ?? []).every(isAllowed)) ??
    FIELDS.find((name) => !isAllowed(named[name]));
  if (field === undefined) return undefined;
  const message = `this token allows only the languages ${[...languages].join(', ')}`;
  return { field: `/${field}`, message };
}

export function sessionRefusal(
  scope: TokenScope | undefined,
  sessionId: SessionId | undefined,
  field: string,
): ScopeRefusal | undefined {
  if (scope?.sessionId === undefined || scope.sessionId === sessionId) return undefined;
  return { field, message: `this token allows only the session ${scope.sessionId}` };
}
