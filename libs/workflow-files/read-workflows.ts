import path from 'node:path';
import { type JsonObject } from '#libs/workflows/domain/check-shape.js';
import { objectIn, textIn } from '#libs/workflows/domain/definition-rules.js';
import { MAX_FILES_BYTES } from '#libs/workflows/domain/definition-shape.js';
import { type Fault, pathOf, pathText } from '#libs/workflows/domain/findings.js';
import { checkOffline, namedFiles } from './check-definition.js';
import { codeBehind, MAX_CODE_BYTES } from './code-files.js';
import { type PlacedFault, placesIn, readDocument } from './document.js';
import { readFileIn, type WorkflowFolder, workflowFolders } from './folders.js';

export const STATE_FILE = '.workflow.state';
const MAX_STATE_BYTES = 64 * 1024;
/** A definition may hold its files. */
const MAX_DEFINITION_FILE_BYTES = 2 * MAX_FILES_BYTES;
const EXTERNAL_ID = /^[A-Za-z0-9._/-]{1,200}$/;
export const WORKFLOW_ID = /^p_[0-9a-z]{18}$/;

export interface FileFault extends PlacedFault {
  /** Path of the file, as its author would name it. */
  readonly file: string;
}

/** A line as compilers print it, so that editors find the place. */
export const faultLine = ({ file, line, column, path: at, message }: FileFault, kind = ''): string =>
  `${file}:${line}:${column}: ${kind}${at === '' ? '' : `${at}: `}${message}`;

export interface WorkflowInFolder {
  /** Path of the file with the definition. */
  readonly file: string;
  readonly text: string;
  /** Id of the state file. */
  readonly id: string | undefined;
  readonly externalId: string;
  /** Body of a PUT, with the code of its files. */
  readonly definition: JsonObject;
}

export interface ReadWorkflows {
  readonly workflows: readonly WorkflowInFolder[];
  readonly faults: readonly FileFault[];
  readonly warnings: readonly FileFault[];
}

/**
 * Reads and checks every workflow at and below a folder (docs/reference/workflows.md#files-folder). Rejects with
 * FolderError.
 * @param strict makes each warning an error
 */
export const readWorkflows = async (root: string, strict: boolean): Promise<ReadWorkflows> => {
  const workflows: WorkflowInFolder[] = [];
  const faults: FileFault[] = [];
  const warnings: FileFault[] = [];
  for (const folder of await workflowFolders(root)) {
    const read = await readWorkflow(root, folder, strict);
    faults.push(...read.faults);
    warnings.push(...read.warnings);
    if (read.workflow) workflows.push(read.workflow);
  }
  return { workflows, faults: [...faults, ...twice(workflows)], warnings };
};

interface ReadOne {
  readonly workflow?: WorkflowInFolder;
  readonly faults: readonly FileFault[];
  readonly warnings: readonly FileFault[];
}

const readWorkflow = async (root: string, folder: WorkflowFolder, strict: boolean): Promise<ReadOne> => {
  const [name = '', other] = folder.definitionFiles;
  const dir = path.join(root, folder.path);
  const file = path.join(dir, name);
  if (other !== undefined) return failed(fault(file, 'conflict', `the folder has ${other} too: keep one of them`));
  const read = await readFileIn(dir, name, MAX_DEFINITION_FILE_BYTES);
  if (read.kind === 'missing') return failed(fault(file, 'unresolved', 'the file is gone'));
  if (read.kind === 'refused') return failed(fault(file, 'format', `the file ${read.why}`));
  const document = readDocument(read.text);
  if (document.kind === 'faults') return failed(...document.faults.map((each) => ({ file, ...each })));
  const state = await readState(dir);
  if ('fault' in state) return failed(state.fault);
  const given = textIn(document.value, 'external_id');
  const externalId = given ?? folderName(root, folder.path);
  if (given === undefined && !EXTERNAL_ID.test(externalId)) return failed(noExternalId(file, externalId));
  const { definition, faults } = await withFiles(document.value, dir);
  const { errors, warnings } = checkOffline({ ...definition, external_id: externalId });
  const placed = (each: readonly Fault[]): readonly FileFault[] => placedIn(file, read.text, each);
  const all = placed([...withoutSamePlace(faults, errors), ...(strict ? warnings : [])]);
  if (all.length > 0) return { faults: all, warnings: strict ? [] : placed(warnings) };
  return {
    workflow: { file, text: read.text, id: state.id, externalId, definition },
    faults: [],
    warnings: strict ? [] : placed(warnings),
  };
};

/** A file that cannot be read is one that the definition lacks, which says less. */
const withoutSamePlace = (first: readonly Fault[], others: readonly Fault[]): readonly Fault[] => {
  const places = new Set(first.map((each) => pathText(each.path)));
  return [...first, ...others.filter((each) => !places.has(pathText(each.path)))];
};

const noExternalId = (file: string, name: string): FileFault =>
  fault(
    file,
    'format',
    `the path of the folder, ${name.slice(0, 200)}, is the external id, which must be 1 to 200 of A-Za-z0-9._/-: rename the folder or set external_id`,
  );

/** The default of the external id. */
const folderName = (root: string, below: string): string => (below === '' ? path.basename(path.resolve(root)) : below);

/** The definition with the code that its steps name in the folder. */
const withFiles = async (
  definition: JsonObject,
  dir: string,
): Promise<{ readonly definition: JsonObject; readonly faults: readonly Fault[] }> => {
  const files = new Map<string, string>();
  const faults: Fault[] = [];
  for (const [name, path] of namedFiles(definition)) {
    const behind = await codeBehind((each) => readFileIn(dir, each, MAX_CODE_BYTES), name);
    if (behind.kind === 'files') for (const [each, text] of behind.files) files.set(each, text);
    if (behind.kind === 'fault') faults.push({ path, code: 'unresolved', message: behind.message });
  }
  if (files.size === 0) return { definition, faults };
  return {
    definition: { ...definition, files: { ...Object.fromEntries(files), ...objectIn(definition, 'files') } },
    faults,
  };
};

const readState = async (dir: string): Promise<{ readonly id: string | undefined } | { readonly fault: FileFault }> => {
  const file = path.join(dir, STATE_FILE);
  const read = await readFileIn(dir, STATE_FILE, MAX_STATE_BYTES);
  if (read.kind === 'missing') return { id: undefined };
  if (read.kind === 'refused') return { fault: fault(file, 'format', `the file ${read.why}`) };
  const document = readDocument(read.text);
  if (document.kind === 'faults') {
    const [first = fault(file, 'syntax', 'the file cannot be read')] = document.faults;
    return { fault: { file, ...first } };
  }
  const id = textIn(document.value, 'id');
  // The id of another installation may have another form.
  return { id: id !== undefined && WORKFLOW_ID.test(id) ? id : undefined };
};

/** Two folders that are the same workflow. */
const twice = (workflows: readonly WorkflowInFolder[]): readonly FileFault[] => {
  const first = new Map<string, string>();
  return workflows.flatMap(({ file, id, externalId }) => {
    const names = [...(id === undefined ? [] : [`the id ${id}`]), `the external id ${externalId}`];
    return names.flatMap((name): FileFault[] => {
      const before = first.get(name);
      first.set(name, before ?? file);
      return before === undefined ? [] : [fault(file, 'duplicate', `${before} has ${name} too`)];
    });
  });
};

/** What a server finds in the definition, at its places in the file. The paths are texts. */
export const placedAt = (
  { file, text }: Pick<WorkflowInFolder, 'file' | 'text'>,
  faults: readonly Pick<FileFault, 'path' | 'code' | 'message'>[],
): readonly FileFault[] =>
  placedIn(
    file,
    text,
    faults.map((each) => ({ ...each, path: pathOf(each.path) })),
  );

const placedIn = (file: string, text: string, faults: readonly Fault[]): readonly FileFault[] => {
  const places = placesIn(
    text,
    faults.map((each) => each.path),
  );
  return faults.map(({ path: at, code, message }, i) => {
    const [line, column] = places[i] ?? [1, 1];
    return { file, line, column, path: pathText(at), code, message };
  });
};

const fault = (file: string, code: string, message: string): FileFault => ({
  file,
  line: 1,
  column: 1,
  path: '',
  code,
  message,
});

const failed = (...faults: readonly FileFault[]): ReadOne => ({ faults, warnings: [] });
