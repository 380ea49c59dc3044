import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { removeDir, tempDir } from '#test/harness/temp-dir.js';
import { FolderError } from './folders.js';
import { faultLine, readWorkflows } from './read-workflows.js';

let root = '';
beforeEach(() => {
  root = tempDir('workflow-files');
});
afterEach(() => removeDir(root));

const write = (files: Readonly<Record<string, string>>): void => {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), text);
  }
};

const IMPORTED = `schema: workflow/2022.04
name: Top tracks
settings:
  error_notification: true
triggers:
  - id: hi_ZbHvJ98
steps:
  - namespace: tracks
    runtime: nodejs18.x
    uses: spotify-get-top-tracks@0.1.1
    props:
      spotify:
        authProvisionId: apn_3JhQwL
  - namespace: answer
    runtime: nodejs18.x
    uses: "./answer/entry.js"
`;
const CODE = 'export default { run: () => 1 };\n';
const read = (strict = false) => readWorkflows(root, strict);
/** What is printed of each fault. */
const told = async (strict = false): Promise<readonly string[]> =>
  (await read(strict)).faults.map((each) => faultLine(each).slice(root.length + 1));

describe('workflows in a folder', () => {
  it('are read as a repository of the original has them', async () => {
    write({
      'top-tracks-p_1/workflow.yaml': IMPORTED,
      'top-tracks-p_1/.workflow.state': 'schema: workflow.state/2022.04\nid: p_0123456789abcdefgh\n',
      'top-tracks-p_1/answer/entry.js': CODE,
      'top-tracks-p_1/notes.js': 'nobody names it',
      'README.md': '# Ours',
    });
    const { workflows, faults, warnings } = await read();
    expect(faults).toEqual([]);
    expect(warnings).toEqual([]);
    expect(workflows).toEqual([
      {
        file: join(root, 'top-tracks-p_1/workflow.yaml'),
        text: IMPORTED,
        id: 'p_0123456789abcdefgh',
        externalId: 'top-tracks-p_1',
        definition: expect.objectContaining({ name: 'Top tracks', files: { 'answer/entry.js': CODE } }),
      },
    ]);
  });

  it('are named by their path below it, or by themselves', async () => {
    const text = 'steps: []\n';
    write({
      'shop/orders/workflow.yml': text,
      'shop/workflow.json': '{\n\t"external_id": "the-shop",\n\t"steps": []\n}',
      'node_modules/x/workflow.yaml': 'no: yaml: here',
      '.git/workflow.yaml': 'no: yaml: here',
    });
    const { workflows, faults } = await read();
    expect(faults).toEqual([]);
    expect(workflows.map(({ externalId, id }) => [externalId, id])).toEqual([
      ['the-shop', undefined],
      ['shop/orders', undefined],
    ]);
    const [alone] = (await readWorkflows(join(root, 'shop/orders'), false)).workflows;
    expect(alone?.externalId).toBe('orders');
  });

  it('have the files that their code imports, and nothing from elsewhere', async () => {
    write({
      'a/workflow.yaml': 'steps:\n  - namespace: x\n    uses: ./x/entry.js\n',
      'a/x/entry.js': "import { y } from '../y.mjs';\nimport 'lodash';\nexport default { run: () => y };\n",
      'a/y.mjs': "import z from './z.json' with { type: 'json' };\nexport const y = z;\nimport('../../outside.js');",
      'a/z.json': '{}',
      'outside.js': 'secret',
    });
    const [workflow] = (await read()).workflows;
    expect(Object.keys(workflow?.definition['files'] ?? {}).sort()).toEqual(['x/entry.js', 'y.mjs', 'z.json']);
  });

  it('are wrong at a line and a column', async () => {
    write({
      'a/workflow.yaml':
        'name: A\nsteps:\n  - namespace: x\n    uses: ./x/entry.js\n  - namespace: 5x\n    code: 1 +\n',
      'b/workflow.yaml': 'name: B\nsteps:\n  - namespace: x\n    code: "1"\n    if: "{{ 1 + }}"\n',
      'c/workflow.yaml': 'name: [C\n',
      'd/workflow.yaml': '- a\n',
    });
    expect(await told()).toEqual([
      'a/workflow.yaml:5:5: steps[1].namespace: must match ^[A-Za-z_$][A-Za-z0-9_$]{0,63}$',
      'a/workflow.yaml:4:5: steps[0].uses: could not resolve steps[0].uses: ./x/entry.js: files has no such path',
      'b/workflow.yaml:5:5: steps[0].if: this is no JavaScript expression: Unexpected token at character 8',
      expect.stringMatching(/^c\/workflow\.yaml:2:1: Flow sequence/),
      'd/workflow.yaml:1:1: the file must hold an object',
    ]);
    expect((await read()).workflows).toEqual([]);
  });

  it('have warnings, which are errors when they are asked for', async () => {
    write({ 'a/workflow.yaml': 'name: A\nstepps: []\nsteps: []\n' });
    const { warnings, workflows } = await read();
    expect(workflows).toHaveLength(1);
    expect(warnings).toEqual([expect.objectContaining({ line: 2, column: 1, path: 'stepps', code: 'unknown_key' })]);
    expect(await told(true)).toEqual([expect.stringMatching(/^a\/workflow\.yaml:2:1: stepps: .*did you mean steps/)]);
  });

  it('do not leave their folder by a link', async () => {
    write({
      'elsewhere/secret.js': CODE,
      'set/a/workflow.yaml': 'steps:\n  - namespace: x\n    uses: ./x/entry.js\n',
      'set/c/workflow.yaml': 'steps: []\n',
    });
    mkdirSync(join(root, 'set/a/x'));
    symlinkSync(join(root, 'elsewhere/secret.js'), join(root, 'set/a/x/entry.js'));
    mkdirSync(join(root, 'set/b'));
    symlinkSync(join(root, 'set/c/workflow.yaml'), join(root, 'set/b/workflow.yaml'));
    symlinkSync(join(root, 'set/c'), join(root, 'set/d'));
    expect(await told()).toEqual([
      'set/a/workflow.yaml:3:5: steps[0].uses: x/entry.js is a symbolic link, or in one, which is not followed',
      'set/b/workflow.yaml:1:1: the file is a symbolic link, or in one, which is not followed',
    ]);
  });

  it('are one in each folder, and one folder each', async () => {
    const state = 'id: p_0123456789abcdefgh\n';
    write({
      'a/workflow.yaml': 'steps: []\n',
      'a/workflow.json': '{}',
      'b/workflow.yaml': 'external_id: same\nsteps: []\n',
      'b/.workflow.state': state,
      'c/workflow.yaml': 'external_id: same\nsteps: []\n',
      'c/.workflow.state': state,
      'd e/workflow.yaml': 'steps: []\n',
      'f/workflow.yaml': 'steps: []\n',
      'f/.workflow.state': 'id: [\n',
    });
    expect(await told()).toEqual([
      'a/workflow.yaml:1:1: the folder has workflow.json too: keep one of them',
      'd e/workflow.yaml:1:1: the path of the folder, d e, is the external id, which must be 1 to 200 of A-Za-z0-9._/-: rename the folder or set external_id',
      expect.stringMatching(/^f\/\.workflow\.state:2:1: Flow sequence/),
      `c/workflow.yaml:1:1: ${join(root, 'b/workflow.yaml')} has the id p_0123456789abcdefgh too`,
      `c/workflow.yaml:1:1: ${join(root, 'b/workflow.yaml')} has the external id same too`,
    ]);
  });

  it('are within bounds', async () => {
    write({
      'a/workflow.yaml': 'steps:\n  - namespace: x\n    uses: ./x/entry.js\n',
      'a/x/entry.js': ' '.repeat(1024 * 1024 + 1),
    });
    writeFileSync(join(root, 'a/.workflow.state'), Buffer.from([0xff, 0xfe]));
    expect(await told()).toEqual(['a/.workflow.state:1:1: the file is not UTF-8 text']);
    write({ 'a/.workflow.state': '{}' });
    expect(await told()).toEqual([
      'a/workflow.yaml:3:5: steps[0].uses: x/entry.js has 1048577 bytes; the limit is 1048576',
    ]);
    mkdirSync(join(root, Array.from({ length: 34 }, () => 'd').join('/')), { recursive: true });
    await expect(read()).rejects.toThrow(FolderError);
    await expect(readWorkflows(join(root, 'none'), false)).rejects.toThrow('cannot be read as a folder (ENOENT)');
  });
});
