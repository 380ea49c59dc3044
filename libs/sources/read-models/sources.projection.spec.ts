import { describe, it } from '@jest/globals';
import { type DomainEvent } from '#libs/kernel/events.js';
import { history } from '#libs/kernel/testing/recorded.js';
import { projecting } from '#libs/kernel/testing/projection-specification.js';
import { definition, deploymentStarted } from '../testing/definitions.js';
import { sourcesProjection } from './sources.projection.js';

const deployed: DomainEvent[] = [deploymentStarted(), { type: 'SourceDeployed', data: { deployedAt: 2_000 } }];
const next = { name: 'World', nameSlug: 'world', active: false, definition: definition({ bundleHash: 'bundle-2' }) };
const updating: DomainEvent[] = [...deployed, { type: 'SourceUpdateStarted', data: { ...next, startedAt: 3_000 } }];
const failure = { reason: 'no', observations: [], failedAt: 4_000 };

const projected = (events: readonly DomainEvent[]) =>
  projecting(sourcesProjection)
    .given(history(...events.map((event) => ['source-dc_1', event] as const)))
    .numberOfTimes(2);

describe('sources.sources', () => {
  it('holds a deploying source without listing it', () => {
    projected([deploymentStarted()]).thenMatches('dc_1', { listed: 'no', workspaceId: 'o_1', userId: 'u_1' });
  });

  it('lists it once deployed, by its creation', () => {
    projected(deployed).thenMatches('dc_1', { listed: 'yes', nameSlug: 'hello', sort: '000000000002000' });
  });

  it('forgets a source whose deployment failed', () => {
    projected([deploymentStarted(), { type: 'SourceDeploymentFailed', data: failure }]).then('dc_1', undefined);
  });

  it('shows an update only at its end', () => {
    projected(updating).thenMatches('dc_1', { listed: 'yes', nameSlug: 'hello' });
    projected([...updating, { type: 'SourceUpdated', data: { updatedAt: 5_000 } }]).thenMatches('dc_1', {
      nameSlug: 'world',
      sort: '000000000002000',
      state: {
        status: 'deployed',
        source: {
          ...next,
          sourceId: 'dc_1',
          userId: 'u_1',
          createdAt: 2_000,
          updatedAt: 5_000,
          unusedSecrets: [],
        },
      },
    });
    projected([...updating, { type: 'SourceUpdateFailed', data: failure }]).thenMatches('dc_1', { nameSlug: 'hello' });
  });

  it('keeps a source whose deletion runs or failed, and forgets a deleted one', () => {
    const deleting: DomainEvent[] = [...deployed, { type: 'SourceDeletionStarted', data: { startedAt: 3_000 } }];
    projected(deleting).thenMatches('dc_1', { listed: 'yes' });
    projected([...deleting, { type: 'SourceDeletionFailed', data: failure }]).thenMatches('dc_1', { listed: 'yes' });
    projected([...deleting, { type: 'SourceDeleted', data: { deletedAt: 4_000 } }]).then('dc_1', undefined);
  });

  it('ignores events of other streams', () => {
    projecting(sourcesProjection)
      .given(history(['webhook-wh_1', { type: 'WebhookDeleted', data: { deletedAt: 1 } }]))
      .then('wh_1', undefined);
  });
});
