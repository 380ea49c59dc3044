import {
  type FileFault,
  faultLine,
  FolderError,
  readWorkflows,
  type WorkflowInFolder,
} from '#libs/workflow-files/index.js';
import { CommandFailure } from './failure.js';

export interface ValidFolder {
  readonly workflows: readonly WorkflowInFolder[];
  readonly warnings: readonly FileFault[];
}

/** Reads the workflows of a folder, which must all be valid. Rejects with CommandFailure. */
export const validFolder = async (dir: string, strict: boolean): Promise<ValidFolder> => {
  const { workflows, faults, warnings } = await readOrFail(dir, strict);
  if (faults.length > 0) throw invalidWorkflows(dir, faults, warnings);
  if (workflows.length > 0) return { workflows, warnings };
  throw usage(
    `${dir} has no workflow: none of workflow.yaml, workflow.yml and workflow.json is in it or in a folder below it`,
  );
};

export const invalidWorkflows = (
  dir: string,
  faults: readonly FileFault[],
  warnings: readonly FileFault[],
): CommandFailure =>
  new CommandFailure({
    exit: 6,
    code: 'invalid_definition',
    message: `${faults.length === 1 ? '1 error' : `${faults.length} errors`} in the workflows of ${dir}`,
    details: { errors: faults },
    lines: [...warningLines(warnings), ...faults.map((each) => faultLine(each))],
  });

const readOrFail: typeof readWorkflows = async (dir, strict) => {
  try {
    return await readWorkflows(dir, strict);
  } catch (error) {
    throw error instanceof FolderError ? usage(error.message) : error;
  }
};

const usage = (message: string): CommandFailure => new CommandFailure({ exit: 2, code: 'usage', message });

export const warningLines = (warnings: readonly FileFault[]): readonly string[] =>
  warnings.map((each) => faultLine(each, 'warning: '));

/** Fields of JSON output beside `data`. */
export const warningsBeside = (warnings: readonly FileFault[]): { readonly warnings?: readonly FileFault[] } =>
  warnings.length === 0 ? {} : { warnings };
