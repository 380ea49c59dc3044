import { DEFAULT_CODE_LIMITS } from '#libs/components/index.js';
import { type Config } from '#libs/config/index.js';
import { type HttpBytes, httpBytes } from '#libs/http/bytes-in-flight.js';
import { type Metrics } from '#libs/telemetry/index.js';

/** Largest API request. Code as JSON text takes up to twice its size, because line ends and quotes are escaped. */
export const MAX_API_BODY_BYTES = 2 * DEFAULT_CODE_LIMITS.fileBytes + 256 * 1024;

/** Limits on bodies on their way in and on answers on their way out, of one process. */
export const httpBytesOf = (config: Config): HttpBytes =>
  httpBytes(Math.max(MAX_API_BODY_BYTES, config.maxBodyKb * 1024), config.pageMb * 1024 * 1024);

/** Exports the amount that the process holds, and its limit. */
export const sampleInHand = (metrics: Metrics, read: () => { readonly held: number; readonly limit: number }): void =>
  metrics.sampled(
    'sluice_in_hand_bytes',
    'Bytes of records read for consumers and not yet done, and the most that they may be',
    () => ({ ...read() }),
    'what',
  );

/** By group. On servers each process of a group exports what the whole group has not done. */
export const sampleLag = (metrics: Metrics, read: () => Lags | Promise<Lags>): void =>
  metrics.sampled('sluice_lag', 'Records that a role has not yet done, over all its processes', read, 'group');

type Lags = Readonly<Record<string, number>>;
