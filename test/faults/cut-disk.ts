import { spawnSync } from 'node:child_process';
import { closeSync, existsSync, fsyncSync, ftruncateSync, mkdirSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { removeDir, tempDir } from '#test/harness/temp-dir.js';

/** Longest time that ext4 waits before it writes its journal on its own. Nothing but a sync makes a write durable earlier. */
const JOURNAL_S = 300;

/**
 * A disk that loses unsynced writes at a power cut: an ext4 file system in a file. Writes stay in the memory of the
 * kernel until a sync or the kernel's own writeback brings them to the file. Needs root and a mount namespace of its
 * own (`unshare --mount`), with which its mounts end.
 */
export class CutDisk {
  /** A folder on the disk, which exists and is durable. */
  readonly dataDir: string;
  private readonly home: string;
  private readonly mounted: string;
  private cuts = 0;

  constructor(mb = 512) {
    this.home = tempDir('cut-disk');
    this.mounted = join(this.home, 'disk');
    this.dataDir = join(this.mounted, 'data');
    mkdirSync(this.mounted);
    const image = openSync(this.image(), 'w');
    ftruncateSync(image, mb << 20);
    closeSync(image);
    command('mkfs.ext4', ['-q', this.image()]);
    this.mount();
    mkdirSync(this.dataDir, { mode: 0o700 });
    sync(this.mounted);
    // Before the folder is removed, which happens at the exit too.
    process.prependOnceListener('exit', () => this.close());
  }

  /** Removes the disk. Idempotent. */
  close(): void {
    if (!existsSync(this.mounted)) return;
    spawnSync('umount', ['--lazy', this.mounted]);
    removeDir(this.home);
  }

  /**
   * Cuts the power. The processes that write to the disk must be dead. Their unsynced writes are lost, unless the
   * kernel had written them already.
   */
  cut(): void {
    const before = this.image();
    this.cuts++;
    // The file is the content of the disk. Writes still in memory go to the former file, which is not read again.
    command('cp', ['--sparse=always', before, this.image()]);
    command('umount', ['--lazy', this.mounted]);
    rmSync(before);
    this.mount();
  }

  private image(): string {
    return join(this.home, `image-${this.cuts}`);
  }

  private mount(): void {
    command('mount', ['-o', `loop,commit=${JOURNAL_S}`, this.image(), this.mounted]);
  }
}

/** Why there can be no such disk here; undefined when there can. */
export const noCutDisk = (): string | undefined => {
  const script =
    'd=$(mktemp -d); trap "rm -rf $d" EXIT; truncate -s 8M $d/i && mkfs.ext4 -q $d/i && mount -o loop $d/i /mnt';
  const tried = spawnSync('unshare', ['--mount', 'sh', '-c', script], { encoding: 'utf8' });
  return tried.status === 0 ? undefined : `a file cannot be mounted as a disk: ${tried.stderr.trim()}`;
};

/** Whether a disk keeps synced writes and loses others. Otherwise a test of power cuts shows nothing. */
export const losesWhatIsNotSynced = (disk: CutDisk): boolean => {
  const kept = join(disk.dataDir, 'synced');
  const lost = join(disk.dataDir, 'not-synced');
  writeFileSync(kept, 'x');
  sync(kept);
  sync(disk.dataDir);
  writeFileSync(lost, 'x');
  disk.cut();
  const isRight = existsSync(kept) && !existsSync(lost);
  rmSync(kept, { force: true });
  return isRight;
};

const sync = (path: string): void => {
  const file = openSync(path, 'r');
  fsyncSync(file);
  closeSync(file);
};

const command = (name: string, args: readonly string[]): void => {
  const { status, stderr, error } = spawnSync(name, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${name} ${args.join(' ')}: ${error?.message ?? stderr}`);
};
