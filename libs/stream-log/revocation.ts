import { endsWithin } from '#libs/async/deadline.js';
import { REVOKE_MS, type ConsumeOptions } from './stream-log.js';

/**
 * Resolves when a consumer has released a revoked lane: when its `onRevoked` is done or, without one, the running
 * handler. Resolves after REVOKE_MS in any case. A failure is counted and releases the lane as well.
 */
export const revocation = async (
  lane: string,
  onRevoked: ConsumeOptions['onRevoked'],
  running: Promise<void> | undefined,
  failed: (error: unknown) => void,
): Promise<void> => {
  try {
    await endsWithin(onRevoked ? onRevoked(lane) : Promise.resolve(running), REVOKE_MS);
  } catch (error) {
    failed(error);
  }
};
