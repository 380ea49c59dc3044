import { type Config, SETTINGS } from '#libs/config/index.js';
import { type LimitReply } from '#libs/tenancy/index.js';

/** Settings that bound what users may do, shown to every user. Addresses, secrets and folders are none of them. */
const SHOWN: readonly (keyof Config)[] = [
  'apiRate',
  'apiBurst',
  'endpointRate',
  'endpointBurst',
  'dailyInvocations',
  'dailyComputeS',
  'dailyCredits',
  'maxBodyKb',
  'maxSources',
  'maxWebhooks',
  'maxAccounts',
  'maxSubscriptions',
  'maxAutoSubscriptions',
  'maxDataStores',
  'maxApiKeys',
  'maxMembers',
  'streamsPerUser',
  'workspaceCodeMb',
  'codeMaxKb',
  'runTimeoutS',
  'actionTimeoutS',
  'eventsKept',
  'webhookConcurrency',
  'webhookTimeoutS',
  'webhookMaxAttempts',
  'webhookDisableAfter',
];

export const serverLimits = (config: Config): readonly LimitReply[] =>
  SHOWN.map((key) => {
    const { name, allowed, sentence } = SETTINGS[key];
    const value = config[key];
    return { setting: name, value: typeof value === 'number' ? value : null, allowed, meaning: sentence };
  });
