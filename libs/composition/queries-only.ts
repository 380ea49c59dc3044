import { DomainError } from '#libs/kernel/domain-error.js';
import { type ApiOptions } from './api.js';

/** Routes that change something answer 421 ahead of this: nobody comes here. */
const elsewhere = async (): Promise<never> => {
  throw new DomainError('request.misdirected', 'this process answers reads only: changes are taken by command-api');
};

/** What only commands use, in a process that takes none. */
export const queriesOnly: Pick<
  ApiOptions,
  'hookRunner' | 'manualRuns' | 'sourceTopics' | 'appliedEvents' | 'inspector' | 'egress'
> = {
  hookRunner: { runHook: elsewhere, operationEnded: elsewhere },
  manualRuns: { run: elsewhere },
  sourceTopics: { create: elsewhere, remove: elsewhere },
  appliedEvents: { waitApplied: elsewhere },
  inspector: { inspect: elsewhere },
  egress: {
    get dispatcher(): never {
      throw new Error('this process sends no requests');
    },
  },
};
