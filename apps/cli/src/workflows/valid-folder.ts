import {
  type FileFault,
  faultLine,
  FolderError,
  readWorkflows,
  type WorkflowInFolder,
} from '#libs/workflow-files/index.js';
import { type Told } from '../author/command.js';
import { CommandFailure, wrongUsage } from '../author/failure.js';

export interface ValidFolder {
  readonly workflows: readonly WorkflowInFolder[];
  readonly warnings: readonly FileFault[];
}

/** Reads the workflows of a folder, which must all be valid. Rejects with CommandFailure. */
export const validFolder = async (dir: string, strict: boolean): Promise<ValidFolder> => {
  const { workflows, faults, warnings } = await readOrFail(dir, strict);
  if (faults.length > 0) throw invalidWorkflows(dir, faults, warnings);
  if (workflows.length > 0) return { workflows, warnings };
  throw wrongUsage(
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
    throw error instanceof FolderError ? wrongUsage(error.message) : error;
  }
};

const warningLines = (warnings: readonly FileFault[]): readonly string[] =>
  warnings.map((each) => faultLine(each, 'warning: '));

/** Warnings as a command tells them. */
export const warned = (warnings: readonly FileFault[]): Pick<Told, 'warnings' | 'warningLines'> => ({
  warnings,
  warningLines: warningLines(warnings),
});

/** Each warning once: the last of those that are the same in some way. */
export const distinct = (
  warnings: readonly FileFault[],
  keyOf: (warning: FileFault) => unknown,
): readonly FileFault[] => [...new Map(warnings.map((each) => [JSON.stringify(keyOf(each)), each])).values()];
