import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync } from 'node:fs';
import { chmod, chown, mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type JailLevel } from '../jail/jail-level.js';
import { JailedProcess, type ProcessEnd } from '../jail/jailed-process.js';
import { uids } from '../jail/uids.js';

const SOURCE = fileURLToPath(new URL('./native-probe.c', import.meta.url));

export interface ProbeResult {
  /** Report of the probe, or null when it was stopped before it could report. */
  readonly said: Readonly<Record<string, number>> | null;
  readonly end: ProcessEnd;
}

/** Native program that runs in place of Node in a jail (native-probe.c). */
export class NativeProbe {
  private runs = 0;
  private readonly unprotected: string[] = [];

  private constructor(
    private readonly dir: string,
    private readonly node: string,
  ) {}

  /** Builds the probe, or returns the reason why it cannot be built here. */
  static async build(): Promise<NativeProbe | string> {
    const dir = await mkdtemp(path.join(tmpdir(), 'sluice-test-'));
    await chmod(dir, 0o755);
    const probe = new NativeProbe(dir, await realpath(process.execPath));
    try {
      await promisify(execFile)('gcc', ['-static', '-O1', '-o', probe.file, SOURCE]);
      await chmod(probe.file, 0o755);
      return probe;
    } catch (error) {
      await probe.remove();
      return `gcc cannot build it: ${error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error)}`;
    }
  }

  /** Level without a jail. Puts its folder below `parent` if that exists, because file systems in memory are faster. */
  unprotectedIn(parent = tmpdir()): JailLevel {
    return {
      name: 'process',
      warning: null,
      unavailable: [],
      plan: ({ childFile }) => {
        const cwd = mkdtempSync(path.join(existsSync(parent) ? parent : tmpdir(), 'sluice-test-'));
        this.unprotected.push(cwd);
        return { file: this.file, args: [childFile], cwd, uid: null, egress: null, tmp: cwd, reads: [] };
      },
    };
  }

  /** @param onSaid called after the report, with a function that ends the probe. */
  async run(
    level: JailLevel,
    task: string,
    onSaid: (kill: () => void) => void = () => undefined,
  ): Promise<ProbeResult> {
    const dir = path.join(this.dir, String(++this.runs));
    const privateDir = path.join(dir, 'private');
    const childFile = path.join(dir, 'task');
    const uid = uids.acquire();
    await mkdir(privateDir, { recursive: true });
    if (uid !== null) await chown(privateDir, uid, uid);
    await writeFile(childFile, task);
    let said: ProbeResult['said'] = null;
    const child = new JailedProcess(
      { ...level, plan: (spec) => this.inPlaceOfNode(level.plan(spec)) },
      { childFile, privateDir, memoryMb: 32, tmpMb: 16, uid },
      {
        onRecord: ({ json }) => {
          said = JSON.parse(json.toString()) as Record<string, number>;
          onSaid(() => child.kill());
        },
        onRead: () => undefined,
        onBreach: () => undefined,
      },
    );
    const end = await child.ended;
    uids.release(uid);
    await rm(dir, { recursive: true });
    return { said, end };
  }

  async remove(): Promise<void> {
    for (const dir of [this.dir, ...this.unprotected]) await rm(dir, { recursive: true, force: true });
  }

  private get file(): string {
    return path.join(this.dir, 'probe');
  }

  private inPlaceOfNode(plan: ReturnType<JailLevel['plan']>): ReturnType<JailLevel['plan']> {
    const swap = (text: string): string => (text === this.node || text === process.execPath ? this.file : text);
    return { ...plan, file: swap(plan.file), args: plan.args.map(swap) };
  }
}
