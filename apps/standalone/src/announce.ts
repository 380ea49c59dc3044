import { resolve } from 'node:path';
import { isolationFacts } from '#libs/hosting/isolation.js';
import { type Config } from '#libs/config/index.js';
import { type JailLevel } from '#libs/sandbox/index.js';
import { type Reconciled } from '#libs/sources/index.js';
import { type Logger } from '#libs/telemetry/index.js';
import { type SetUpResult } from '#libs/tenancy/index.js';

export interface Announcement {
  readonly config: Config;
  readonly publicUrl: string;
  readonly owner: SetUpResult;
  readonly level: JailLevel;
  readonly reconciled: Reconciled;
  readonly logger: Logger;
  /** Duration of the start. */
  readonly ms: number;
}

/** Prints the lines for a human after the start, next to the JSON lines of the log. */
export const announce = async (facts: Announcement): Promise<void> => {
  const { config, publicUrl, owner, level, reconciled, logger, ms } = facts;
  logger.info(
    { url: publicUrl, dataDir: resolve(config.dataDir), ...isolationFacts(level), ms, ...repaired(reconciled) },
    'server.started',
  );
  if (level.warning !== null) logger.warn({ isolation: level.name, unavailable: level.unavailable }, level.warning);

  const lines = [
    '',
    `Sluice is ready on ${publicUrl}  (API ${publicUrl}/v1, described on ${publicUrl}/v1/docs, data in ${resolve(config.dataDir)}, isolation: ${level.name})`,
  ];
  const { key } = owner;
  switch (key.status) {
    case 'made':
      lines.push(
        `Your API key, shown this once: ${key.secret}`,
        `Try it: curl -H "Authorization: Bearer ${key.secret}" ${publicUrl}/v1/users/me`,
      );
      break;
    case 'given':
      lines.push(
        `Your API key is the one in SLUICE_API_KEY. Try it: curl -H "Authorization: Bearer $SLUICE_API_KEY" ${publicUrl}/v1/users/me`,
      );
      break;
    case 'given_but_revoked':
      lines.push('The key in SLUICE_API_KEY was revoked and stays revoked: set another one.');
      break;
    case 'existing':
      lines.push(
        'Your API keys stay as they were. To replace a lost one, stop the server and run: npm run sluice -- key issue --user owner',
      );
      break;
  }
  process.stdout.write(`${lines.join('\n')}\n\n`);
  if (key.status === 'made') await key.handedOver();
};

/** Counts what the start finished of interrupted operations. A start with nothing to finish logs no zeros. */
const repaired = ({ rolledBack, finished, deleted, released }: Reconciled): Readonly<Record<string, number>> =>
  Object.fromEntries(
    Object.entries({ rolledBack, finished, deleted, released }).flatMap(([what, ids]) =>
      ids.length > 0 ? [[what, ids.length]] : [],
    ),
  );
