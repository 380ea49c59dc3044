export { unifiedDiff } from '#libs/workflows/compare-versions/unified-diff.js';
export { comparable, MASK, type WorkflowOnServer } from './comparable.js';
export { valueAt } from './document.js';
export { FolderError } from './folders.js';
export {
  faultLine,
  type FileFault,
  placedAt,
  readWorkflows,
  type ReadWorkflows,
  type WorkflowInFolder,
} from './read-workflows.js';
