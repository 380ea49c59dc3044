import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type JsonObject } from '#libs/workflows/domain/check-shape.js';
import { isObject } from '#libs/workflows/domain/definition-rules.js';
import { DEFINITION } from '#libs/workflows/domain/definition-shape.js';
import { plainDefinition } from '#libs/workflows/domain/plain-definition.js';
import { type Shape } from '#libs/workflows/domain/shape.js';
import { removeDir, tempDir } from '#test/harness/temp-dir.js';
import { DEFINITIONS } from '#test/harness/workflow-definitions.js';
import { comparable } from './comparable.js';

import { filesOfWorkflow, folderNameOf, schemaFor } from './files-of-workflow.js';
import { readWorkflows } from './read-workflows.js';
import { writeWhole } from './write-files.js';

let dir = '';
beforeEach(() => {
  dir = tempDir('files-of-workflow');
});
afterEach(() => removeDir(dir));

const ID = 'p_0123456789abcdefgh';
/** As a server shows it. */
const shown = ({ schema, ...definition }: JsonObject): JsonObject => ({
  ...(schema === undefined ? {} : { schema }),
  ...Object.fromEntries(
    ['name', 'description', 'external_id'].flatMap((key) => (key in definition ? [[key, definition[key]]] : [])),
  ),
  ...plainDefinition(definition, () => true),
});
const written = async (definition: JsonObject, options = {}): Promise<readonly string[]> => {
  const files = await filesOfWorkflow({ id: ID, definition }, options);
  for (const file of files) await writeWhole(join(dir, 'w'), file);
  return files.map(({ path }) => path);
};
/** What stays in the definition of code. */
const inline = async (files: JsonObject, uses: readonly string[]): Promise<readonly string[]> => {
  const steps = uses.map((path, i) => ({ namespace: `s${i}`, uses: `./${path}` }));
  const paths = await written({ name: 'A', steps, files });
  const [workflow] = (await readWorkflows(dir, false)).workflows;
  expect(workflow?.definition['files']).toEqual(files);
  return Object.keys(files).filter((path) => !paths.includes(path));
};

describe('the files of a workflow', () => {
  it.each(DEFINITIONS)('are read as the same workflow: $name', async (definition) => {
    for (const definitionFile of ['workflow.yaml', 'workflow.yml', 'workflow.json']) {
      const there = { id: ID, active: true, definition: shown(definition) };
      await written(there.definition, { definitionFile });
      const { workflows, faults } = await readWorkflows(dir, false);
      expect(faults).toEqual([]);
      const [workflow] = workflows;
      if (!workflow) throw new Error('no workflow is in the folder');
      expect(workflow.id).toBe(ID);
      const texts = comparable(workflow, there);
      expect(texts.here).toBe(texts.there);
      const { schema: _, ...sent } = shown(workflow.definition);
      expect({ schema: there.definition['schema'], ...sent }).toEqual(there.definition);
      removeDir(join(dir, 'w'));
    }
  });

  it('are tried with every key of a definition', () => {
    const missing = [...keysOf(DEFINITION, 'definition')].filter((key) => !given(DEFINITIONS, key));
    expect(missing).toEqual([]);
  });

  it('are the code that steps name with what it imports, the state, and at last the definition', async () => {
    const files = { 'a/entry.js': "import '../b.js';\n", 'b.js': '1;\n', 'c.js': '2;\n' };
    const paths = await written({ name: 'A', steps: [{ namespace: 'a', uses: './a/entry.js' }], files });
    expect(paths).toEqual(['a/entry.js', 'b.js', '.workflow.state', 'workflow.yaml']);
  });

  it('have no path that a server could do harm with', async () => {
    const hostile = [
      '../outside.js',
      '/etc/x.js',
      'a/../../x.js',
      '.git/hooks/pre-commit',
      'a/.env.js',
      'node_modules/x/index.js',
      'workflow.yaml',
      'sub/workflow.JSON',
      'a\\b.js',
      'a:b.js',
      'line\nbreak.js',
      'dot.',
      'a b.js',
      '__proto__/x.js',
    ];
    const files = Object.fromEntries(hostile.map((path) => [path, '1;\n']));
    const steps = hostile.map((path, i) => ({ namespace: `s${i}`, uses: `./${path}` }));
    const paths = (await filesOfWorkflow({ id: ID, definition: { name: 'A', steps, files } })).map(({ path }) => path);
    expect(paths).toEqual(['__proto__/x.js', '.workflow.state', 'workflow.yaml']);
  });

  it('keep code in the definition that a file could not hold', async () => {
    mkdirSync(join(dir, 'w'));
    expect(await inline({ 'a.js': '1;', 'A.js': '2;' }, ['a.js', 'A.js'])).toEqual(['A.js']);
    removeDir(join(dir, 'w'));
    expect(await inline({ 'b.js': '1;', 'b.js/c.js': '2;' }, ['b.js', 'b.js/c.js'])).toEqual(['b.js']);
    removeDir(join(dir, 'w'));
    expect(await inline({ 'half.js': '"\ud800";', 'bom.js': '\ufeff1;' }, ['half.js', 'bom.js'])).toEqual(['half.js']);
  });

  it('have the schema of the keys that they use', () => {
    const step = { namespace: 'a', uses: 'x' };
    expect(schemaFor({ name: 'A', external_id: 'a', description: 'b', steps: [step] })).toBe('workflow/2022.04');
    expect(schemaFor({ schema: 'sluice.workflow/1', steps: [] })).toBe('sluice.workflow/1');
    const added: readonly JsonObject[] = [
      { steps: [{ ...step, if: '1' }] },
      { steps: [{ namespace: 'a', code: '1' }] },
      { steps: [], triggers: [{ type: 'manual' }] },
      { steps: [], settings: { hold_slot: true } },
      { steps: [], settings: { auto_retry: { also_on: ['Timeout'] } } },
      { steps: [], files: { a: '' } },
    ];
    for (const each of added) expect(schemaFor(each)).toBe('sluice.workflow/1');
    expect(schemaFor({ steps: [], settings: { auto_retry: true } })).toBe('workflow/2022.04');
    expect(schemaFor({ steps: [], triggers: [{ id: 'dc_1' }] })).toBe('workflow/2022.04');
  });

  it.each([
    ['Orders of the Shop!', 'orders-of-the-shop'],
    ['../../etc/passwd', 'etc-passwd'],
    ['Größe à la carte', 'gro-e-a-la-carte'],
    ['注文', 'workflow'],
    ['.', 'workflow'],
    ['x'.repeat(255), 'x'.repeat(60)],
  ])('are in a folder with a harmless name: %s', (name, slug) =>
    expect(folderNameOf({ id: ID, name })).toBe(`${slug}-${ID}`),
  );
});

/** Paths of the keys of a shape, without the places in lists. */
const keysOf = function* (shape: Shape, path: string): Generator<string> {
  switch (shape.kind) {
    case 'object':
      for (const [key, field] of Object.entries(shape.fields)) {
        yield `${path}.${key}`;
        yield* keysOf(field.shape, `${path}.${key}`);
      }
      return;
    case 'list':
      yield* keysOf(shape.of, path);
      return;
    case 'either':
      for (const each of shape.of) yield* keysOf(each, path);
      return;
    case 'tagged':
      for (const each of Object.values(shape.of)) if (typeof each === 'object') yield* keysOf(each, path);
      return;
    default:
  }
};

const given = (definitions: readonly JsonObject[], key: string): boolean => {
  const [, ...parts] = key.split('.');
  let values: readonly unknown[] = definitions;
  for (const part of parts)
    values = values
      .flatMap((each): unknown[] => (Array.isArray(each) ? each : [each]))
      .flatMap((each) => (isObject(each) && Object.hasOwn(each, part) ? [each[part]] : []));
  return values.length > 0;
};
