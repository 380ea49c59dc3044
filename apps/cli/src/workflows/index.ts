import { type Command } from 'commander';
import { registerApply } from './apply.js';
import { registerDiff } from './diff.js';
import { registerPull } from './pull.js';
import { registerValidate } from './validate.js';

export const registerWorkflows = (program: Command): void => {
  const workflows = program
    .command('workflows')
    .description('Workflows as files: a folder each, with workflow.yaml and the code of its steps.');
  registerApply(workflows);
  registerDiff(workflows);
  registerPull(workflows);
  registerValidate(workflows);
};
