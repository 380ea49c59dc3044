import { describe, it } from '@jest/globals';
import { history } from '#libs/kernel/testing/recorded.js';
import { projecting } from '#libs/kernel/testing/projection-specification.js';
import { savedData } from '../testing/saved-data.js';
import { componentsProjection } from './components.projection.js';

describe('components.components', () => {
  it('holds each saved component under its workspace and key', () => {
    projecting(componentsProjection)
      .given(
        history(
          ['component-sc_1', { type: 'ComponentSaved', data: savedData({ savedAt: 1_000 }) }],
          ['component-sc_1', { type: 'ComponentSavedAgain', data: { url: null, savedAt: 3_000 } }],
          ['component-sc_2', { type: 'ComponentSaved', data: savedData({ componentId: 'sc_2', key: null }) }],
          ['source-dc_1', { type: 'SourceDeployed', data: { deployedAt: 1 } }],
        ),
      )
      .numberOfTimes(2)
      .thenMatches('sc_1', { workspaceId: 'o_1', key: 'hello', sort: '000000000003000', revision: 1 })
      .thenMatches('sc_2', { key: '', sort: '000000000001000' })
      .then('dc_1', undefined);
  });
});
