/** The actions in the audit log that are no HTTP requests. Data; HTTP requests are named by their operationId. */
export const AUDIT_ACTIONS = {
  refuseCredential:
    'A token was refused: it is unknown, has expired, or lacks the role. Of equal ones the first in a minute has a line, and the rest together a second one with their `count`.',
  useNewAddress:
    'A token was used from an address from which this instance had not seen it. The 64 bits in front of an IPv6 address count as one; each token, and all users of one minter together, get at most 200 such lines in a minute, and then one with their `count`.',
  reload: 'The process got SIGHUP and read its configuration again.',
} as const;
