import { type JsonObject } from '#libs/workflows/domain/check-shape.js';
import { objectIn, textIn } from '#libs/workflows/domain/definition-rules.js';
import { SCHEMAS } from '#libs/workflows/domain/definition-shape.js';
import { yamlOf } from '#libs/workflows/domain/yaml-of.js';
import { usesAddedKeys } from './added-keys.js';
import { namedFiles } from './check-definition.js';
import { codeBehind } from './code-files.js';
import { DEFINITION_FILES, type ReadFile } from './folders.js';
import { STATE_FILE } from './read-workflows.js';

/** A file to write. The path is below the folder of the workflow. */
export interface FileToWrite {
  readonly path: string;
  readonly text: string;
}

/**
 * The files of a workflow, from whose folder `readWorkflows` makes the same definition again. The definition comes last,
 * so that a folder without all of its files is no workflow. A server chose the texts and paths: code whose path is none
 * that a repository should get stays in the definition.
 * @param definitionFile name of the file with the definition
 */
export const filesOfWorkflow = async (
  { id, definition }: { readonly id: string; readonly definition: JsonObject },
  { definitionFile = 'workflow.yaml', schema = schemaFor(definition) } = {},
): Promise<readonly FileToWrite[]> => {
  const { files: _files, schema: _schema, ...rest } = definition;
  const code = await codeFiles(definition);
  const inline = Object.entries(objectIn(definition, 'files')).filter(([path]) => !code.has(path));
  const written = { schema, ...rest, ...(inline.length === 0 ? {} : { files: Object.fromEntries(inline) }) };
  return [
    ...[...code].map(([path, text]) => ({ path, text })),
    { path: STATE_FILE, text: yamlOf({ id }) },
    {
      path: definitionFile,
      text: definitionFile.endsWith('.json') ? `${JSON.stringify(written, null, 2)}\n` : yamlOf(written),
    },
  ];
};

/** The schema that a definition keeps, or the one whose keys it uses. */
export const schemaFor = (definition: JsonObject): string =>
  textIn(definition, 'schema') ?? (usesAddedKeys(definition) ? SCHEMAS[1] : SCHEMAS[0]);

/** The files that a step names or that such a file imports, which are those that are read again. */
const codeFiles = async (definition: JsonObject): Promise<ReadonlyMap<string, string>> => {
  const writable = writableFiles(objectIn(definition, 'files'));
  const readCode = (name: string): Promise<ReadFile> => {
    const text = writable.get(name);
    return Promise.resolve(text === undefined ? { kind: 'missing' } : { kind: 'text', text });
  };
  const code = new Map<string, string>();
  for (const name of namedFiles({ ...definition, files: {} }).keys()) {
    const behind = await codeBehind(readCode, name);
    if (behind.kind === 'files') for (const [path, text] of behind.files) code.set(path, text);
  }
  return code;
};

/** Neither a name with a leading dot, such as `.git`, nor one that some system reads as another. */
const PART = /^[A-Za-z0-9_$@+-](?:[A-Za-z0-9_$@+.-]{0,98}[A-Za-z0-9_$@+-])?$/;

const writableFiles = (files: JsonObject): ReadonlyMap<string, string> => {
  const writable = new Map<string, string>();
  // Where case does not matter, two names may be one file.
  const taken = new Set<string>();
  const folders = new Set(Object.keys(files).flatMap((path) => foldersOf(path.toLowerCase())));
  for (const [path, text] of Object.entries(files)) {
    const lower = path.toLowerCase();
    if (typeof text !== 'string' || !isCode(lower) || taken.has(lower) || folders.has(lower)) continue;
    if (Buffer.from(text).toString() !== text) continue;
    taken.add(lower);
    writable.set(path, text);
  }
  return writable;
};

const isCode = (path: string): boolean => {
  const parts = path.split('/');
  return (
    parts.every((part) => PART.test(part) && part !== 'node_modules') && !DEFINITION_FILES.includes(parts.at(-1) ?? '')
  );
};

const foldersOf = (path: string): readonly string[] => {
  const parts = path.split('/');
  return parts.slice(1).map((_, i) => parts.slice(0, i + 1).join('/'));
};

/** Name of the folder of a workflow. It has nothing of the name but letters and digits of ASCII. */
export const folderNameOf = ({ id, name }: { readonly id: string; readonly name: string }): string => {
  const slug = name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 60)
    .replace(/^-|-$/g, '');
  return `${slug === '' ? 'workflow' : slug}-${id}`;
};
