import { wrongUsage } from './failure.js';
import { type Context } from './context.js';

/** Resolves when the user wants what the question says. Rejects with CommandFailure. */
export const confirmed = async ({ globals, prompts }: Context, question: string): Promise<void> => {
  if (globals.yes === true) return;
  if (prompts === undefined) throw wrongUsage(`${question} Nobody can be asked here: add --yes`);
  if (!(await prompts.confirm(question))) throw wrongUsage('nothing was done');
};
