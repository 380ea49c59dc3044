/** The test kit of authors, which tests import as `sluice/test`. */
export { given } from './given.js';
export {
  type Answer,
  type Emit,
  type Expected,
  type Failure,
  type Given,
  type GivenState,
  type Log,
  type Outcome,
  type Reply,
  type Request,
  type Step,
  type Stub,
} from './published.js';
