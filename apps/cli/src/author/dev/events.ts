import { wrongUsage } from '../failure.js';
import { type Context } from '../context.js';
import { readOption } from '../read-file.js';

/** Events of one file that are sent at each save. */
const MOST_EVENTS = 100;

/** The events of `--event`: one JSON value, or one a line, as texts with their digits. Rejects with CommandFailure. */
export const eventsOf = async ({ io }: Context, file: string | undefined): Promise<readonly string[]> => {
  if (file === undefined) return [];
  const text = file === '-' ? await io.input() : readOption('--event', file);
  const events = isJson(text) ? [text] : text.split('\n').filter((line) => line.trim() !== '');
  const wrong = events.findIndex((event) => !isJson(event));
  if (wrong >= 0) throw wrongUsage(`--event: line ${wrong + 1} of ${file} is no JSON, and neither is the whole`);
  if (events.length > MOST_EVENTS)
    throw wrongUsage(`--event: ${file} has ${events.length} events, and ${MOST_EVENTS} are sent at most`);
  return events;
};

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};
