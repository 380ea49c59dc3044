import { describe } from '@jest/globals';
import { buildHere, bundleHere } from '../testing/bundle.js';
import { bundlerCases } from '../testing/bundler.suite.js';

describe('bundling a component', () => {
  bundlerCases({ bundle: (input) => bundleHere(input), bundleWith: buildHere });
});
