export { FolderError } from './folders.js';
export { faultLine, type FileFault, readWorkflows, type ReadWorkflows } from './read-workflows.js';
