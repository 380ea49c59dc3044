import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import path from 'node:path';

/** Purpose of a server's temporary folder. */
export type FolderKind = 'jail' | 'egress';

/** Identifies the process that owns a folder unambiguously, by pid namespace, pid and start time. */
const ownerOf = (pid: number | string): string | null => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The program name, in parentheses, may contain anything.
    const startedAt = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '';
    const namespace = /\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0] ?? '';
    return `${namespace}-${pid}-${startedAt}`;
  } catch {
    // There is no such process, or this is not Linux.
    return null;
  }
};

/** Prefix of a folder name for mkdtemp. */
export const folderPrefix = (kind: FolderKind): string =>
  `sluice-${kind}-${ownerOf(process.pid) ?? `x-${process.pid}-x`}-`;

/** True when a name made with `folderPrefix` belongs to an ended server. Always false for other pid namespaces. */
export const isStale = (name: string): boolean => {
  const self = ownerOf(process.pid);
  if (self === null) return false;
  const [namespace] = self.split('-');
  const [, theirs, pid, startedAt] = /^sluice-(?:jail|egress)-(\d+)-(\d+)-(\d+)-/.exec(name) ?? [];
  return theirs === namespace && pid !== undefined && ownerOf(pid) !== `${theirs}-${pid}-${startedAt}`;
};

/** Removes the leftovers of killed servers. */
export const removeStaleFolders = async (parent: string): Promise<void> => {
  for (const name of readdirSync(parent)) {
    // Ignores folders of other users, which cannot be removed.
    if (isStale(name)) await rm(path.join(parent, name), { recursive: true, force: true }).catch(() => undefined);
  }
};
