/** The token of this tab, and what its role may do. The server decides; the page only hides what would be refused. */
import { computed, signal } from '@preact/signals';

export interface Identity {
  readonly role: string;
  readonly roles: readonly string[];
  readonly is_anonymous: boolean;
  readonly name?: string;
  readonly tenant_id?: string;
  /** Of a guest: the only room that its token opens. */
  readonly room?: { readonly room_id: string; readonly role: string; readonly language?: string };
}

const KEY = 'lingua.token';

/** A link with #token=… is a login: the token leaves the address at once and stays in this tab. */
function takeToken(): string {
  const [, fromLink] = /^#token=(.+)$/.exec(location.hash) ?? [];
  if (fromLink !== undefined) {
    sessionStorage.setItem(KEY, decodeURIComponent(fromLink));
    history.replaceState(null, '', `${location.pathname}#/`);
  }
  return sessionStorage.getItem(KEY) ?? '';
}

export const token = signal(takeToken());
export const identity = signal<Identity | undefined>(undefined);
/** The server refused the token, or wants one. */
export const needsLogin = signal<false | 'missing' | 'refused'>(false);

export const mayWatch = computed(() => identity.value?.roles.includes('viewer') ?? false);
export const mayAct = computed(() => identity.value?.roles.includes('operator') ?? false);
/** Guests may join their room, and nothing else. */
export const isGuest = computed(() => identity.value?.room !== undefined);
export const mayTalk = computed(() => !isGuest.value && (identity.value?.roles.includes('client') ?? false));

export function logIn(given: string): void {
  sessionStorage.setItem(KEY, given);
  identity.value = undefined;
  needsLogin.value = false;
  token.value = given;
}

export function logOut(): void {
  sessionStorage.removeItem(KEY);
  identity.value = undefined;
  token.value = '';
  needsLogin.value = 'missing';
}
