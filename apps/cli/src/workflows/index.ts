import { type Command } from 'commander';
import { addGlobals, type Globals, globalsOf } from '../author/globals.js';
import { isWorkspaceId, readMe, workspaceNamed } from '../author/session.js';
import { registerApply } from './apply.js';
import { registerDiff } from './diff.js';
import { CommandFailure } from './failure.js';
import { registerPull } from './pull.js';
import { type Chosen, chooseServer, givenHere, profilesHere } from './server.js';
import { registerValidate } from './validate.js';

export const registerWorkflows = (program: Command): void => {
  const workflows = program
    .command('workflows')
    .description('Workflows as files: a folder each, with workflow.yaml and the code of its steps.')
    .hook('preAction', (_, command) => actInWorkspace(command));
  registerApply(workflows);
  registerDiff(workflows);
  registerPull(workflows);
  registerValidate(workflows);
  for (const command of workflows.commands) addGlobals(command);
};

/**
 * Sets the options that were given before the name of the command, and the id of its workspace: of `--workspace`, or of
 * the profile. A server that cannot be chosen is told by the commands that need one.
 */
const actInWorkspace = async (command: Command): Promise<void> => {
  const globals = globalsOf(command);
  for (const [name, value] of Object.entries(globals)) command.setOptionValue(name, value);
  const chosen = chosenHere(globals);
  if (chosen === undefined) return;
  const wanted = globals.workspace ?? chosen.workspaceId;
  const isName = wanted !== null && !isWorkspaceId(wanted);
  const id = isName ? workspaceNamed((await readMe(chosen)).workspaces, wanted).id : wanted;
  if (id !== null) command.setOptionValue('workspace', id);
};

const chosenHere = (globals: Globals): Chosen | undefined => {
  try {
    const chosen = chooseServer(givenHere, globals, profilesHere());
    return chosen.unconfirmed === null ? chosen : undefined;
  } catch (error) {
    if (error instanceof CommandFailure) return undefined;
    throw error;
  }
};
