import { type Stats } from 'node:fs';
import { basename, relative } from 'node:path';
import { watch } from 'chokidar';
import { isSkipped } from '#libs/workflow-files/index.js';
import { actAfterChanges, type Watching } from '../author/act-after-changes.js';
import { type Exit } from '../author/failure.js';

/** Acts on the changes of a folder. Resolves when the signal comes, after an act that had begun. */
export const actOnChanges = (dir: string, act: () => Promise<Exit>, watching: Watching): Promise<void> => {
  const listen = (changed: () => void): (() => Promise<void>) => {
    const watcher = watch(dir, { ignoreInitial: true, followSymlinks: false, ignored: isOfNoWorkflow(dir) });
    watcher.on('all', changed).on('error', changed);
    return () => watcher.close();
  };
  return actAfterChanges(listen, act, watching);
};

/** Folders that are not read either. They may hold very many files. */
const isOfNoWorkflow =
  (dir: string) =>
  (path: string, stats?: Stats): boolean =>
    stats?.isDirectory() === true && relative(dir, path) !== '' && isSkipped(basename(path));
