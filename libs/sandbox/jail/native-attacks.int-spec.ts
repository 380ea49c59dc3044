import { afterAll, describe, expect, it } from '@jest/globals';
import { constants } from 'node:os';
import { readdirSync, readFileSync } from 'node:fs';
import { NativeProbe } from '../testing/native-probe.js';
import { causeOf } from '../host/process-end.js';
import { tryLevel } from './detect.js';
import { type JailLevel, type JailName } from './jail-level.js';
import { MAX_PROCESSES, MAX_TMP_FILES } from './node-flags.js';
import { isCarried, PROMISES, type Protection } from './promises.js';

const { EPERM, ENOSYS, EACCES } = constants.errno;
/** Above every limit, but harmless on a machine without one. */
const FORKS = 3 * MAX_PROCESSES;
const SHARED_MB = 480;
const FILES = MAX_TMP_FILES + 4_000;
/** Exit code of the probe's copy of itself (native-probe.c). */
const RAN = 200;

const built = await NativeProbe.build();
const available: JailLevel[] = [];
for (const name of Object.keys(PROMISES) as JailName[]) {
  const level = await tryLevel(name);
  if (typeof level === 'string') process.stderr.write(`skipped: ${name} cannot run here: ${level}\n`);
  else available.push(level);
}

/** OOM scores of all descendants of this process, by pid. */
const scoresOfDescendants = (): Map<number, number> => {
  const parents = new Map<number, number>();
  const read = (pid: number, file: string): string => {
    try {
      return readFileSync(`/proc/${pid}/${file}`, 'latin1');
    } catch {
      // The process has ended.
      return '';
    }
  };
  for (const pid of readdirSync('/proc').map(Number).filter(Number.isInteger)) {
    const stat = read(pid, 'stat');
    parents.set(pid, Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]));
  }
  const found = [process.pid];
  for (const pid of found) for (const [child, parent] of parents) if (parent === pid) found.push(child);
  const scores = found.slice(1).map((pid) => [pid, read(pid, 'oom_score_adj')] as const);
  return new Map(scores.flatMap(([pid, score]) => (score === '' ? [] : [[pid, Number(score)]])));
};

if (typeof built === 'string') {
  describe('attacks in machine code', () => it.skip(`not tested: ${built}`, () => undefined));
} else {
  const probe = built;
  afterAll(() => probe.remove());

  describe.each(available)('attacks in machine code, in $name', (level) => {
    const attack = (protection: Protection, name: string, run: () => Promise<void>): void => {
      if (isCarried(level, protection)) it(name, run);
      else it.skip(`not promised at ${level.name}: ${name}`, run);
    };

    attack('syscalls', 'cannot make system calls that Node does not need', async () => {
      const { said } = await probe.run(level, 'system_calls');
      const { said: control } = await probe.run(probe.unprotectedIn(), 'system_calls');
      const { getpid, unix, clone3, ...refused } = said ?? {};
      expect({ getpid, unix, clone3 }).toEqual({ getpid: 0, unix: 0, clone3: ENOSYS });
      expect(Object.keys(refused).length).toBeGreaterThan(15);
      expect(Object.values(refused).every((errno) => errno === EPERM)).toBe(true);
      // Control: without the filter, the same calls reach the kernel.
      expect(Object.values(control ?? {}).filter((errno) => errno === EPERM)).toEqual([]);
      expect(Object.keys(control ?? {})).toEqual(Object.keys(said ?? {}));
    });

    attack('privileges', 'cannot make a namespace in which it would be root', async () => {
      expect((await probe.run(level, 'privileges')).said).toMatchObject({ new_user_namespace: expect.any(Number) });
      expect((await probe.run(level, 'privileges')).said).not.toEqual({ new_user_namespace: 0 });
      expect((await probe.run(probe.unprotectedIn(), 'privileges')).said).toEqual({ new_user_namespace: 0 });
    });

    attack('processes', 'cannot start an unlimited number of processes', async () => {
      const { said } = await probe.run(level, `processes ${FORKS}`);
      expect(said?.['made']).toBeLessThanOrEqual(MAX_PROCESSES + 8);
      expect((await probe.run(probe.unprotectedIn(), `processes ${FORKS}`)).said).toEqual({ made: FORKS });
    });

    attack('memory', 'cannot take memory that the data limit does not cover', async () => {
      const { said, end } = await probe.run(level, `shared_memory ${SHARED_MB}`);
      expect(said).toBeNull();
      expect(causeOf(end, { memoryMb: 32 }).code).toBe('OutOfMemory');
      expect(end.outOfMemory).toBe(true);
      // Control: the same jail without its cgroup.
      const { entry, ...uncounted } = level;
      expect(entry?.cgroups).toBeTruthy();
      expect((await probe.run(uncounted, `shared_memory ${SHARED_MB}`)).said).toEqual({ touched: SHARED_MB });
    });

    attack('tmp_files', 'cannot fill kernel memory with file names', async () => {
      const { said } = await probe.run(level, `files ${FILES}`);
      expect(said?.['made']).toBeGreaterThan(1_000);
      expect(said?.['made']).toBeLessThanOrEqual(MAX_TMP_FILES);
      expect((await probe.run(probe.unprotectedIn('/dev/shm'), `files ${FILES}`)).said).toEqual({ made: FILES });
    });

    attack('tmp_noexec', 'cannot run a program that it wrote to /tmp', async () => {
      expect((await probe.run(level, 'execute_copy')).said).toEqual({ exit: EACCES });
      expect((await probe.run(probe.unprotectedIn(), 'execute_copy')).said).toEqual({ exit: RAN });
    });

    attack('oom_priority', 'is ended before the server when memory runs out', async () => {
      const own = Number(readFileSync('/proc/self/oom_score_adj', 'utf8'));
      const scoresOf = async (one: JailLevel): Promise<number[]> => {
        const before = scoresOfDescendants();
        let scores: number[] = [];
        await probe.run(one, 'wait', (kill) => {
          scores = [...scoresOfDescendants()].flatMap(([pid, score]) => (before.has(pid) ? [] : [score]));
          kill();
        });
        return scores;
      };
      const jailed = await scoresOf(level);
      expect(jailed.length).toBeGreaterThan(0);
      expect(Math.min(...jailed)).toBe(500);
      expect(await scoresOf(probe.unprotectedIn())).toEqual([own]);
    });

    it('leaves no cgroup behind', () => {
      const cgroups = level.entry?.cgroups;
      expect(cgroups?.leftovers() ?? []).toEqual([]);
    });
  });
}
