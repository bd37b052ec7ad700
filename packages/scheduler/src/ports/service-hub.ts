/**
 * Port: the source of the list of services. Cold path: only the background refresh of the catalogue calls it.
 *
 * The law: it returns the answer parsed as JSON and not checked further, or throws an error with the cause. A call ends within
 * its time limit, never reads more than its byte limit, and connects only to its configured address. A call changes nothing.
 */
export interface ServiceHub {
  list(): Promise<unknown>;
}
