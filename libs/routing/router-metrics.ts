import { type LogRecord } from '#libs/stream-log/stream-log.js';

export interface RouterMetrics {
  /** Emits looked up in the subscription table. */
  emits: number;
  invocations: number;
  deliveries: number;
  /** Matches whose listener is a workflow. */
  workflowsSkipped: number;
  /** Emits not passed on because of MAX_HOPS. */
  hopLimited: number;
  /** Records dropped because their topic no longer exists: the listener was deleted. */
  dropped: number;
  /** Invocations given up in a growing loop. */
  loopsGivenUp: number;
  /** Times that an emitter was held for a listener with a backlog. */
  held: number;
  /** Records skipped because they cannot be routed. */
  poisoned: number;
}

export const noRouterMetrics = (): RouterMetrics => ({
  emits: 0,
  invocations: 0,
  deliveries: 0,
  workflowsSkipped: 0,
  hopLimited: 0,
  dropped: 0,
  loopsGivenUp: 0,
  held: 0,
  poisoned: 0,
});

/** Counts a record for a listener. */
export const countRouted = (metrics: RouterMetrics, { headers }: LogRecord): void => {
  if ('webhook' in headers) metrics.deliveries++;
  else if ('source' in headers) metrics.invocations++;
};
