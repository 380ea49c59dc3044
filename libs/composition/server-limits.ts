import { type Config, SETTINGS } from '#libs/config/index.js';
import { type LimitReply } from '#libs/tenancy/index.js';

/**
 * Settings that bound what users may do. Every user may read them, so addresses, secrets and folders are not among
 * them.
 */
const SHOWN: readonly (keyof Config)[] = [
  'apiRate',
  'endpointRate',
  'dailyCredits',
  'maxBodyKb',
  'maxSources',
  'maxWebhooks',
  'maxSubscriptions',
  'maxWorkflows',
  'waitingRuns',
  'streamsPerUser',
  'runTimeoutS',
  'eventsKept',
  'runsKept',
  'runDaysKept',
  'workspaceRunsMb',
  'workflowMemoryMb',
  'webhookConcurrency',
  'webhookTimeoutS',
  'webhookDisableAfter',
];

export const serverLimits = (config: Config): readonly LimitReply[] =>
  SHOWN.map((key) => {
    const { name, allowed, sentence } = SETTINGS[key];
    const value = config[key];
    return { setting: name, value: typeof value === 'number' ? value : null, allowed, meaning: sentence };
  });
