import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { removeDir, tempDir } from '#test/harness/temp-dir.js';
import { eventually } from '#test/harness/wait.js';
import { type Exit } from '../author/failure.js';
import { actOnChanges } from './watch.js';

let dir = '';
beforeEach(() => void (dir = tempDir('workflows-watch')));
afterEach(() => removeDir(dir));

const write = (name: string, content: string): void => {
  mkdirSync(dirname(join(dir, name)), { recursive: true });
  writeFileSync(join(dir, name), content);
};

/** Watches the folder, and ends each act with the next of the exits, and then with 0. */
const world = (exits: Exit[] = []) => {
  const ended = new AbortController();
  let [acts, running, most] = [0, 0, 0];
  const act = async (): Promise<Exit> => {
    most = Math.max(most, ++running);
    await new Promise((resolve) => setTimeout(resolve, 50));
    running--;
    acts++;
    return exits.shift() ?? 0;
  };
  const over = actOnChanges(dir, act, { signal: ended.signal, calmMs: 100, againMs: 100 });
  const until = (count: number) => eventually(`${count} acts`, async () => (acts >= count ? true : undefined));
  const end = async (): Promise<void> => {
    ended.abort();
    await over;
  };
  return { until, end, acts: () => acts, most: () => most };
};
const calm = () => new Promise((resolve) => setTimeout(resolve, 500));

// docs/reference/workflows.md#files-watch
describe('a watch of a folder', () => {
  it('acts at once, and then once for the changes that come together', async () => {
    const t = world();
    await t.until(1);
    await calm();
    expect(t.acts()).toBe(1);
    for (let n = 0; n < 10; n++) write(`a/${n}.js`, String(n));
    await t.until(2);
    await calm();
    expect(t.acts()).toBe(2);
    rmSync(join(dir, 'a'), { recursive: true });
    await t.until(3);
    await t.end();
  });

  it('acts again for a change while it acts, and never twice at a time', async () => {
    const t = world();
    await t.until(1);
    for (let n = 0; n < 20; n++) {
      write('a/workflow.yaml', String(n));
      await new Promise((resolve) => setTimeout(resolve, 30));
    }
    await t.until(2);
    await t.end();
    expect(t.most()).toBe(1);
  });

  it('tries again without a change what failed for want of a server, and nothing else', async () => {
    const t = world([7, 8, 6]);
    await t.until(3);
    await calm();
    expect(t.acts()).toBe(3);
    await t.end();
  });

  it('does not look into installed packages', async () => {
    write('node_modules/x/index.js', '1');
    const t = world();
    await t.until(1);
    write('node_modules/x/index.js', '2');
    await calm();
    expect(t.acts()).toBe(1);
    await t.end();
  });

  it('ends with its signal', async () => {
    const t = world();
    await t.end();
    write('a.js', '1');
    await calm();
    expect(t.acts()).toBeLessThanOrEqual(1);
  });
});
