/**
 * Port: where the list of services comes from. Cold path: only the background refresh of the catalogue asks.
 *
 * The law: the answer as it was given, read as JSON and not checked any further; or a thrown error that says in words what went
 * wrong. It ends by itself within its limit of time, never reads more than its limit of bytes, and asks nobody but the address it was
 * made for. Asking changes nothing.
 */
export interface ServiceHub {
  list(): Promise<unknown>;
}
