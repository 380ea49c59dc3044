import { WrongSettings } from '#libs/config/index.js';
import { IsolationUnavailable } from '#libs/sandbox/jail/detect.js';

/** Describes why a process cannot start. Problems that an operator can fix come without a stack. */
export const startProblem = (error: unknown): string => {
  if (error instanceof IsolationUnavailable) return error.message;
  if (error instanceof WrongSettings || !(error instanceof Error)) return String(error);
  return (error.stack ?? error.message).replace(/^Error: /, '');
};
