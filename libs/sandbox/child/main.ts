/** Entry point of the jailed process that runs one source's code. Bundled to dist/libs/sandbox/child.cjs. */
import { startChild } from './start-child.js';

startChild();
