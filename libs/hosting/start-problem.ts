import { WrongSettings } from '#libs/config/index.js';
import { IsolationUnavailable } from '#libs/sandbox/jail/detect.js';

/** Why a process cannot start, for people: what an operator can put right comes without a stack. */
export const startProblem = (error: unknown): string => {
  if (error instanceof IsolationUnavailable) return error.message;
  if (error instanceof WrongSettings || !(error instanceof Error)) return String(error);
  return (error.stack ?? error.message).replace(/^Error: /, '');
};
