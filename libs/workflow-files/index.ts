export { unifiedDiff } from '#libs/workflows/compare-versions/unified-diff.js';
export { comparable, MASK, type WorkflowOnServer } from './comparable.js';
export { valueAt } from './document.js';
export { type FileToWrite, filesOfWorkflow, folderNameOf, schemaFor } from './files-of-workflow.js';
export { FolderError, isSkipped } from './folders.js';
export {
  faultLine,
  type FileFault,
  placedAt,
  readWorkflows,
  type ReadWorkflows,
  WORKFLOW_ID,
  type WorkflowInFolder,
} from './read-workflows.js';
export { fileThere, writeWhole } from './write-files.js';
