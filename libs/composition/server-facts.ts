import { type Config } from '#libs/config/index.js';
import { version } from '#libs/hosting/version.js';
import { type ServerFacts } from '#libs/telemetry/index.js';
import { registryDirOf } from './registry.js';

/**
 * What `GET /v1/server` shows of this process.
 *
 * @param isolation level of the jail; null in a process that runs no code.
 */
export const serverFacts = (config: Config, publicUrl: string, isolation: string | null): ServerFacts => ({
  version: version(),
  engine: config.engine,
  isolation: isolation ?? (config.isolation === 'auto' ? null : config.isolation),
  public_url: publicUrl,
  endpoint_form: config.endpointDomain === null ? 'path' : 'host',
  started_at: Math.round(performance.timeOrigin),
  emails: config.smtpUrl !== null,
  registry: registryDirOf(config) !== undefined,
});
