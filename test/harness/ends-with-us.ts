import { type ChildProcess } from 'node:child_process';

const running = new Set<ChildProcess>();
let armed = false;

/** Ends the servers of a run that ends early, also on Ctrl-C where `exitOnSignals` was called. */
export const endsWithUs = (child: ChildProcess): void => {
  if (!armed) process.once('exit', () => running.forEach((each) => each.kill('SIGKILL')));
  armed = true;
  running.add(child);
  child.once('exit', () => running.delete(child));
};

/** For our own programs. Jest handles signals itself. */
export const exitOnSignals = (): void => {
  process.once('SIGINT', () => process.exit(130));
  process.once('SIGTERM', () => process.exit(143));
};
