import { describe, it } from '@jest/globals';
import { history } from '#libs/kernel/testing/recorded.js';
import { projecting } from '#libs/kernel/testing/projection-specification.js';
import { savedData } from '../testing/saved-data.js';
import { codeSizesProjection } from './code-sizes.projection.js';

describe('components.code_sizes', () => {
  it('sums code and bundles by workspace, each component once, also when replayed', () => {
    projecting(codeSizesProjection)
      .given(
        history(
          ['component-sc_1', { type: 'ComponentSaved', data: savedData({ bytes: 100 }) }],
          ['component-sc_1', { type: 'ComponentSavedAgain', data: { url: null, savedAt: 3_000 } }],
          ['component-sc_2', { type: 'ComponentSaved', data: savedData({ componentId: 'sc_2' }) }],
          ['component-sc_3', { type: 'ComponentSaved', data: savedData({ componentId: 'sc_3', bytes: 20 }) }],
        ),
      )
      .numberOfTimes(2)
      .thenMatches('o_1', { bytes: 120 });
  });
});
