import { messageOf } from '#libs/kernel/error-message.js';
import { wrongUsage } from './failure.js';
import { type Context } from './context.js';
import { readText } from './read-file.js';

/** The JSON that an option names: itself, @FILE, or - for standard input. Its text is kept, with its digits. */
export const jsonArgument = async ({ io }: Context, option: string, given: string): Promise<string> => {
  try {
    const text = given === '-' ? await io.input() : given.startsWith('@') ? readText(given.slice(1)) : given;
    JSON.parse(text);
    return text;
  } catch (error) {
    throw wrongUsage(`${option} must be JSON, @FILE or -: ${messageOf(error)}`);
  }
};
