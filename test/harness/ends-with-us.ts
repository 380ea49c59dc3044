import { type ChildProcess } from 'node:child_process';

const running = new Set<ChildProcess>();
let armed = false;

/** A run that ends early, also by Ctrl-C where `exitOnSignals` was called, leaves no server behind. */
export const endsWithUs = (child: ChildProcess): void => {
  if (!armed) process.once('exit', () => running.forEach((each) => each.kill('SIGKILL')));
  armed = true;
  running.add(child);
  child.once('exit', () => running.delete(child));
};

/** For programs of our own; Jest does it by itself. */
export const exitOnSignals = (): void => {
  process.once('SIGINT', () => process.exit(130));
  process.once('SIGTERM', () => process.exit(143));
};
