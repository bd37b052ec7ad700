/** Whether a web page may act without a token. Pure. */

/**
 * Who comes without a token is trusted for the network it is in, and every page its user visits is in that network too. So
 * the page must be this server's own or of a listed origin.
 */
export const isOwnPage = (origin: string, host: string | undefined, listed: readonly string[]): boolean =>
  origin === `http://${host}` ||
  origin === `https://${host}` ||
  listed.includes(origin) ||
  listed.includes('*');
