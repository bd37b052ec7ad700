/** The token in an Authorization header. Pure. */

const BEARER = /^Bearer +(\S+) *$/i;

/** Another scheme is passed on whole, as a token nobody has: whoever sends one believes to be somebody. */
export const bearerOf = (authorization: string): string => BEARER.exec(authorization)?.[1] ?? authorization;
