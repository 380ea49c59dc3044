import { type ComponentSaved } from '../published.js';

/** Data of a saved component, for specs. */
export const savedData = (over: Partial<ComponentSaved['data']> = {}): ComponentSaved['data'] => ({
  componentId: 'sc_1',
  userId: 'u_1',
  kind: 'source',
  key: 'hello',
  name: 'Hello',
  version: '0.1.0',
  description: null,
  annotations: null,
  codeHash: 'code-hash',
  bundleHash: 'bundle-hash',
  bytes: 0,
  url: null,
  configurableProps: [],
  hooks: [],
  dedupe: null,
  hasRun: true,
  savedAt: 1_000,
  ...over,
});
