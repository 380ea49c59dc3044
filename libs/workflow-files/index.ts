export { unifiedDiff } from '#libs/workflows/compare-versions/unified-diff.js';
export { comparable, type WorkflowOnServer } from './comparable.js';
export { FolderError } from './folders.js';
export {
  faultLine,
  type FileFault,
  readWorkflows,
  type ReadWorkflows,
  type WorkflowInFolder,
} from './read-workflows.js';
