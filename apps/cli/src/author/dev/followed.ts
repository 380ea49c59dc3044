import { statSync } from 'node:fs';
import { CommandFailure } from '../failure.js';
import { actAfterChanges, PASSING } from '../act-after-changes.js';
import { type Component } from '../components.js';
import { type Context } from '../context.js';
import { type DeploymentOptions } from '../deployment.js';
import { type FilesOfComponent } from '../files-of-component.js';
import { type Fields } from '../json.js';
import { type Session } from '../session.js';
import { harmlessLines } from '../text.js';
import { type Report } from './report.js';
import { markedFiles } from './marked-files.js';
import { WatchedFiles } from './watch-files.js';

/** A file that is followed on a server. */
export interface Followed {
  readonly context: Context;
  readonly session: Session;
  /** What the file was saved as at first. */
  readonly component: Component;
  readonly options: DeploymentOptions;
  readonly own: Fields;
  readonly files: FilesOfComponent;
  /** As it was named. */
  readonly file: string;
  readonly report: Report;
  readonly signal: AbortSignal;
}

/** Saves of several files, and the parts of one save, count as one within this time. */
const CALM_MS = 15;

/** Acts on each change of the files until the signal comes. What is refused is told, and the former code goes on. */
export const onEachSave = async (
  { file, files, options, report, signal }: Followed,
  act: (files: FilesOfComponent) => Promise<void>,
): Promise<void> => {
  let watched: WatchedFiles | undefined;
  let { paths } = files;
  /** The files that the server refused. One save may be told as several changes. */
  let refused: string | undefined;
  const listen = (changed: () => void): (() => Promise<void>) => {
    const watching = (watched = new WatchedFiles(changed));
    watching.follow(paths);
    return () => Promise.resolve(watching.close());
  };
  const changed = async (): Promise<CommandFailure['exit'] | 0> => {
    // Before they are read, so that a later save differs.
    const stamps = stampsOf(paths);
    if (stamps === refused) return 0;
    refused = undefined;
    try {
      const read = await markedFiles(file, options.root);
      ({ paths } = read);
      watched?.follow(paths);
      await act(read);
      return 0;
    } catch (error) {
      if (!(error instanceof CommandFailure)) throw error;
      if (error.status !== null && !PASSING.includes(error.exit)) refused = stamps;
      // A file that it needs may come to be.
      if (error.status === null) watched?.followAny();
      tellRejected(report, error);
      return error.exit;
    }
  };
  await actAfterChanges(listen, changed, { signal, calmMs: CALM_MS });
};

/** Which files there are, and when each was written. */
const stampsOf = (paths: readonly string[]): string =>
  paths.map((path) => `${path} ${statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? ''}`).join('\n');

const tellRejected = (report: Report, { message, code, details, lines }: CommandFailure): void => {
  const { file = null, line = null, column = null } = details;
  report.tell('rejected', { error: message, code, file, line, column }, [
    [{ text: 'rejected', as: 'bad' }, ` ${harmlessLines(message)}`],
    ...lines,
  ]);
};
