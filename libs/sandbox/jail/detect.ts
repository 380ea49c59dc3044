import { endsWithin } from '#libs/async/deadline.js';
import { chmod, chown, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { messageOf } from '#libs/kernel/error-message.js';
import { bwrapVariants } from './bwrap.js';
import { Cgroups } from './cgroups.js';
import { carriedBy, findEntries, type Entry } from './entry.js';
import { type JailLevel, type JailName, type JailVariant } from './jail-level.js';
import { JailedProcess } from './jailed-process.js';
import { PROCESS_WARNING, processVariants } from './process-level.js';
import { uids } from './uids.js';
import { unshareVariants } from './unshare.js';

export type IsolationSetting = 'auto' | 'jail' | 'bwrap' | 'unshare' | 'process';

interface Candidate {
  readonly name: JailName;
  readonly warning: string | null;
  variants(isRoot: boolean): Promise<readonly JailVariant[]>;
}

const CANDIDATES: readonly Candidate[] = [
  { name: 'jail (bwrap)', warning: null, variants: bwrapVariants },
  { name: 'jail (unshare)', warning: null, variants: unshareVariants },
  { name: 'process', warning: PROCESS_WARNING, variants: processVariants },
];

/** The levels that a setting accepts, strongest first. */
const ACCEPTED: Readonly<Record<IsolationSetting, readonly JailName[]>> = {
  auto: ['jail (bwrap)', 'jail (unshare)', 'process'],
  jail: ['jail (bwrap)', 'jail (unshare)'],
  bwrap: ['jail (bwrap)'],
  unshare: ['jail (unshare)'],
  process: ['process'],
};

const PROBE = `require('node:fs').writeSync(4, Buffer.from('0000000002000000000000005b5d', 'hex'));`;
const PROBE_TIMEOUT_MS = 10_000;

/** Thrown when this machine cannot provide the requested isolation. The message says what to install. */
export class IsolationUnavailable extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'IsolationUnavailable';
  }
}

/**
 * Finds the strongest level that the setting allows, by running Node in it. Rejects with IsolationUnavailable when none
 * of the accepted levels runs here.
 */
export const detectIsolation = async (
  setting: IsolationSetting,
  tryOne: (name: JailName) => Promise<JailLevel | string> = tryLevel,
): Promise<JailLevel> => {
  const unavailable: string[] = [];
  for (const name of ACCEPTED[setting]) {
    const found = await tryOne(name);
    if (typeof found !== 'string') return { ...found, unavailable };
    unavailable.push(`${name}: ${found}`);
  }
  const hint =
    setting === 'process'
      ? ''
      : '. Install bubblewrap (or util-linux with setpriv), allow unprivileged user namespaces, or set SLUICE_ISOLATION=process and run only code that you trust';
  throw new IsolationUnavailable(`SLUICE_ISOLATION=${setting} is not available here: ${unavailable.join('; ')}${hint}`);
};

/** Sets up the level, or returns the reason why it is unavailable here. */
export const tryLevel = async (name: JailName): Promise<JailLevel | string> => {
  const candidate = CANDIDATES.find((one) => one.name === name);
  if (!candidate) return 'unknown';
  if (process.platform !== 'linux' && name !== 'process') return `needs Linux, this is ${process.platform}`;
  const reasons: string[] = [];
  let variants: readonly JailVariant[];
  try {
    variants = await candidate.variants(process.getuid?.() === 0);
  } catch (error) {
    return messageOf(error);
  }
  const entries = await findEntries(process.platform === 'linux' ? Cgroups.find() : 'cgroups need Linux');
  const tried = async (variant: JailVariant, entry: Entry | undefined): Promise<JailLevel | undefined> => {
    const level = levelOf(candidate, variant, entry);
    const failure = await probe(level);
    if (failure === null) return level;
    reasons.push(`${failure} (${variant.label})`);
    return undefined;
  };
  // Tries the strongest variant with the strongest entry. If that fails, finds the strongest variant, then its entry.
  const [best, ...weaker] = variants;
  const whole = best && (await tried(best, entries[0]));
  if (whole) return whole;
  for (const variant of entries[0] ? variants : weaker) {
    const bare = await tried(variant, undefined);
    if (!bare) continue;
    for (const entry of variant === best ? entries.slice(1) : entries) {
      const level = entry && (await tried(variant, entry));
      if (level) return level;
    }
    return bare;
  }
  return reasons[0] ?? 'there is no way to set it up';
};

const levelOf = ({ name, warning }: Candidate, variant: JailVariant, entry: Entry | undefined): JailLevel => ({
  name,
  warning,
  unavailable: [],
  carries: new Set([...variant.carries, ...(entry ? carriedBy(entry) : [])]),
  ...(entry ? { entry } : {}),
  plan: (spec) => variant.plan(spec),
});

/** Runs Node at this level once. Returns the failure, or null. */
const probe = async (level: JailLevel): Promise<string | null> => {
  const dir = await mkdtemp(path.join(tmpdir(), 'sluice-probe-'));
  const uid = uids.acquire();
  try {
    await chmod(dir, 0o711);
    const childFile = path.join(dir, 'child.cjs');
    await writeFile(childFile, PROBE);
    // Sets the mode explicitly, because the server's umask could make the file unreadable for the jail's user.
    await chmod(childFile, 0o644);
    const privateDir = path.join(dir, 'private');
    await mkdir(privateDir, { mode: 0o700 });
    if (uid !== null) await chown(privateDir, uid, uid);
    return await runProbe(level, childFile, privateDir, uid);
  } catch (error) {
    return messageOf(error);
  } finally {
    uids.release(uid);
    await rm(dir, { recursive: true, force: true });
  }
};

const runProbe = async (
  level: JailLevel,
  childFile: string,
  privateDir: string,
  uid: number | null,
): Promise<string | null> => {
  let answered = false;
  const child = new JailedProcess(
    level,
    { childFile, privateDir, memoryMb: 256, tmpMb: 16, uid },
    {
      onRecord: (record) => {
        answered = record.json.toString() === '[]';
      },
      onRead: () => undefined,
      onBreach: () => undefined,
    },
  );
  if (!(await endsWithin(child.ended, PROBE_TIMEOUT_MS))) child.kill();
  const { exitCode, signal, stderr } = await child.ended;
  if (answered && exitCode === 0) return null;
  const said = stderr.trim().split('\n').slice(0, 3).join(' ');
  return `Node did not run in it: ${said || `exit code ${exitCode ?? 'none'}, signal ${signal ?? 'none'}`}`;
};
