/** Sessions that are open and do nothing. */
import { openMany } from './raw-session.ts';

export async function idleSessions(url: string, count: number): Promise<object> {
  const sessions = await openMany(url, count);
  return { open: sessions.length };
}
