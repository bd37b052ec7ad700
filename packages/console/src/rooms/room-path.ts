/** Addresses of the API of rooms. Operators may name a tenant; others have the one of their token. */
import { route } from '../shell/router.ts';

export const tenantIn = (query: URLSearchParams): Readonly<Record<string, string>> => {
  const tenant = query.get('tenant_id') ?? '';
  return tenant === '' ? {} : { tenant_id: tenant };
};

/** Of the tenant that the page's address names. `path`: below the room, such as `/captions`. */
export function roomPath(id: string, path = '', query: Readonly<Record<string, string>> = {}): string {
  const asked = new URLSearchParams({ ...query, ...tenantIn(route.value.query) }).toString();
  return `v1/rooms${id === '' ? '' : `/${encodeURIComponent(id)}`}${path}${asked === '' ? '' : `?${asked}`}`;
}
