import { type SourceDefinition, type SourceDeploymentStarted } from '../published.js';

/** Definition of a source, for specs. */
export const definition = (over: Partial<SourceDefinition> = {}): SourceDefinition => ({
  componentId: 'sc_1',
  componentKey: 'hello',
  bundleHash: 'bundle-1',
  props: [],
  hooks: [],
  dedupe: null,
  emitOnDeploy: true,
  ...over,
});

export const deploymentStarted = (over: Partial<SourceDeploymentStarted['data']> = {}): SourceDeploymentStarted => ({
  type: 'SourceDeploymentStarted',
  data: {
    sourceId: 'dc_1',
    userId: 'u_1',
    name: 'Hello',
    nameSlug: 'hello',
    definition: definition(),
    startedAt: 1_000,
    ...over,
  },
});
