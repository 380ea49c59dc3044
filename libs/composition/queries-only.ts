import { DomainError } from '#libs/kernel/domain-error.js';
import { type ApiOptions } from './api.js';

/** Never called in practice, because routes that change something answer 421 before. */
const elsewhere = async (): Promise<never> => {
  throw new DomainError('request.misdirected', 'this process answers reads only: changes are taken by command-api');
};

/** Stand-ins for the ports of commands in a process that serves no commands. */
export const queriesOnly: Pick<
  ApiOptions,
  | 'hookRunner'
  | 'manualRuns'
  | 'runSteering'
  | 'appEvents'
  | 'workflowInvokes'
  | 'sourceTopics'
  | 'appliedEvents'
  | 'inspector'
  | 'caller'
  | 'definitions'
  | 'packages'
  | 'egress'
> = {
  hookRunner: { runHook: elsewhere, operationEnded: elsewhere },
  manualRuns: { run: elsewhere },
  runSteering: { steer: elsewhere },
  appEvents: { send: elsewhere },
  workflowInvokes: { invoke: elsewhere, replay: elsewhere },
  sourceTopics: { create: elsewhere, remove: elsewhere },
  appliedEvents: { waitApplied: elsewhere },
  inspector: { inspect: elsewhere },
  caller: { call: elsewhere },
  definitions: { readYaml: elsewhere, locate: elsewhere, parse: elsewhere },
  packages: { install: elsewhere },
  egress: {
    get dispatcher(): never {
      throw new Error('this process sends no requests');
    },
  },
};
