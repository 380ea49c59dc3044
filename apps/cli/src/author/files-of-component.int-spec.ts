import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { removeDir, tempDir } from '#test/harness/temp-dir.js';
import { CommandFailure } from './failure.js';
import { type FilesOfComponent, filesOfComponent } from './files-of-component.js';

let dir = '';
beforeEach(() => {
  dir = tempDir('files');
});
afterEach(() => removeDir(dir));

const write = (files: Readonly<Record<string, string | Buffer>>): void => {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, name)), { recursive: true });
    writeFileSync(join(dir, name), text);
  }
};
const read = (name: string, root?: string): Promise<FilesOfComponent> =>
  filesOfComponent(join(dir, name), root === undefined ? undefined : join(dir, root));
const refusal = async (name: string, root?: string): Promise<string> => {
  const error = await read(name, root).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof CommandFailure)) throw new Error('it was not refused', { cause: error });
  expect(error).toMatchObject({ exit: 2, code: 'usage' });
  return error.message.replaceAll(dir, '…');
};

describe('the files of a component', () => {
  it('are the file and what it imports in any way, by their paths in the project', async () => {
    write({
      'package.json': '{}',
      'sources/new/new.mjs': `
        import app from '../../acme.app.mjs';
        export { x } from './more.js';
        const later = import('./later');
        const { data } = require('../data.json');
        import text from '../readme.md';
        import fs from 'node:fs';
        import axios from 'axios';
        import again from './new.mjs';`,
      'acme.app.mjs': 'export default {};',
      'sources/new/more.ts': `import type { X } from './types.js'; import './deep/index'; export const x: number = 1;`,
      'sources/new/deep/index/index.mjs': '',
      'sources/new/later.cjs': '',
      'sources/new/types.ts': 'export type X = 1;',
      'sources/data.json': '{"data": 1} and no more JSON',
      'sources/readme.md': 'Ünïcode',
      'sources/unused.mjs': '',
    });
    const { code, fileName, files, paths } = await read('sources/new/new.mjs');
    expect(fileName).toBe('sources/new/new.mjs');
    expect(code).toContain("from '../../acme.app.mjs'");
    expect(Object.keys(files).sort()).toEqual([
      'acme.app.mjs',
      'sources/data.json',
      'sources/new/deep/index/index.mjs',
      'sources/new/later.cjs',
      'sources/new/more.ts',
      'sources/readme.md',
    ]);
    expect(files['sources/readme.md']).toBe('Ünïcode');
    expect([...paths].sort()).toEqual([fileName, ...Object.keys(files)].sort().map((name) => join(dir, name)));
  });

  it('are those of the folder of the file where no project is around it', async () => {
    write({ 'a/b.mjs': `import './c.mjs';`, 'a/c.mjs': '' });
    // The folder of temporary files is no project.
    expect(await read('a/b.mjs')).toMatchObject({ fileName: 'b.mjs', files: { 'c.mjs': '' } });
    expect(await read('a/b.mjs', '.')).toMatchObject({ fileName: 'a/b.mjs', files: { 'a/c.mjs': '' } });
  });

  it('are left to the server when they cannot be parsed', async () => {
    write({ 'a.mjs': `import './b.mjs';`, 'b.mjs': 'export default {' });
    expect(await read('a.mjs')).toMatchObject({ files: { 'b.mjs': 'export default {' } });
  });

  it('28: are never outside of the project', async () => {
    write({
      'project/.git/HEAD': '',
      'project/a/b.mjs': `// A comment.\nimport '../../outside.mjs';`,
      'outside.mjs': '',
    });
    expect(await refusal('project/a/b.mjs')).toBe(
      'a/b.mjs:2:8: the import "../../outside.mjs" leads to …/outside.mjs, outside of the project …/project: move it there, or name a higher folder with --root',
    );
    expect(await read('project/a/b.mjs', '.')).toMatchObject({ fileName: 'project/a/b.mjs' });
    expect(await refusal('outside.mjs', 'project')).toMatch(/^\S+ leads to …\/outside\.mjs, outside of the project/);
  });

  it('are never behind a link that leads out of the project', async () => {
    write({ 'project/package.json': '{}', 'project/a.mjs': `import './b.mjs';`, 'b.mjs': '', 'project/c.mjs': '' });
    symlinkSync(join(dir, 'b.mjs'), join(dir, 'project/b.mjs'));
    expect(await refusal('project/a.mjs')).toMatch(
      /^a\.mjs:1:8: the import "\.\/b\.mjs" is a symbolic link to …\/b\.mjs, outside of the project …\/project/,
    );
    expect(await refusal('project/b.mjs')).toMatch(/ is a symbolic link to …\/b\.mjs/);
    symlinkSync(join(dir, 'project/c.mjs'), join(dir, 'project/d.mjs'));
    expect(await read('project/d.mjs')).toMatchObject({ fileName: 'd.mjs' });
  });

  it('29: are 200 with 2,304 KB at most', async () => {
    const imports = (count: number): string => Array.from({ length: count }, (_, n) => `import './${n}.txt';`).join('');
    write(Object.fromEntries(Array.from({ length: 201 }, (_, n) => [`${n}.txt`, 'text'])));
    write({ 'most.mjs': imports(200), 'more.mjs': imports(201) });
    expect(Object.keys((await read('most.mjs')).files)).toHaveLength(200);
    expect(await refusal('more.mjs')).toMatch(
      /^more\.mjs:1:\d+: \d+\.txt is one file too many: a component may import 200 files$/,
    );
    write({ 'a.mjs': `import './big.txt';`, 'big.txt': Buffer.alloc(2_304 * 1024 - 19, 'x') });
    await expect(read('a.mjs')).resolves.toMatchObject({ fileName: 'a.mjs' });
    write({ 'big.txt': Buffer.alloc(2_400 * 1024, 'x') });
    expect(await refusal('a.mjs')).toBe(
      'a.mjs:1:8: big.txt has 2,400 KB, and the files of the component 2,401 KB with it: they may have 2,304 KB together',
    );
  });

  it('must be there, and be texts', async () => {
    write({ 'a.mjs': `import './b.mjs';`, 'c.mjs': `import './d.txt';`, 'd.txt': Buffer.from([0xff]), 'e.py': '' });
    expect(await refusal('a.mjs')).toBe('a.mjs:1:8: the import "./b.mjs" leads to no file');
    expect(await refusal('c.mjs')).toBe('c.mjs:1:8: d.txt is no text in UTF-8');
    expect(await refusal('none.mjs')).toBe('there is no file …/none.mjs');
    expect(await refusal('e.py')).toBe('…/e.py must end in .mjs, .cjs, .js, .mts, .cts or .ts');
    expect(await refusal('a.mjs', 'none')).toBe('--root: …/none is no folder');
  });
});
