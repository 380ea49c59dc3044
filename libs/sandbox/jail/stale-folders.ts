import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import path from 'node:path';

/** What a server keeps temporary files for. */
export type FolderKind = 'jail' | 'egress';

/** Names the process that owns a folder so that no other can be mistaken for it: pid namespace, pid, time of its start. */
const ownerOf = (pid: number | string): string | null => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The name of the program, in parentheses, may hold anything.
    const startedAt = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '';
    const namespace = /\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0] ?? '';
    return `${namespace}-${pid}-${startedAt}`;
  } catch {
    // No such process, or no Linux.
    return null;
  }
};

/** For mkdtemp. */
export const folderPrefix = (kind: FolderKind): string =>
  `sluice-${kind}-${ownerOf(process.pid) ?? `x-${process.pid}-x`}-`;

/** Whether a name made with `folderPrefix` belongs to a server that is gone. Those of other pid namespaces are not judged. */
export const isStale = (name: string): boolean => {
  const self = ownerOf(process.pid);
  if (self === null) return false;
  const [namespace] = self.split('-');
  const [, theirs, pid, startedAt] = /^sluice-(?:jail|egress)-(\d+)-(\d+)-(\d+)-/.exec(name) ?? [];
  return theirs === namespace && pid !== undefined && ownerOf(pid) !== `${theirs}-${pid}-${startedAt}`;
};

/** Removes what servers left behind that were killed. */
export const removeStaleFolders = async (parent: string): Promise<void> => {
  for (const name of readdirSync(parent)) {
    // Another user's: not ours to remove.
    if (isStale(name)) await rm(path.join(parent, name), { recursive: true, force: true }).catch(() => undefined);
  }
};
