/**
 * Port: posts a body to a node's callback endpoint.
 *
 * The law: only to networks on the allow-list, judged by the address of the actual connection; no redirects; bounded in time and size;
 * `taken` only for a 2xx answer. `declined`: there was no connection, or the answer reports that the endpoint did not take the body.
 * `unreachable`: every other case, in which the node may or may not have the body.
 */
export type CallResult =
  | { readonly kind: 'taken' }
  | { readonly kind: 'overloaded' | 'declined' | 'unreachable' | 'forbidden'; readonly reason: string };

export interface EndpointCaller {
  /** Whether such an endpoint may be registered. */
  permits(url: string): boolean;
  post(url: string, body: string, timeoutMs: number): Promise<CallResult>;
}
