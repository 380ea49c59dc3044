export { ComponentsModule } from './components.module.js';
export { componentsProjection } from './read-models/components.projection.js';
export { crawledFetcher, type FetchText } from './fetch/crawled-fetcher.js';
export {
  DEFAULT_CODE_LIMITS,
  DEFAULT_INSPECTION_LIMITS,
  type CodeLimits,
  type ComponentCalls,
  type ComponentFetcher,
  type ComponentInspector,
  type InspectionLimits,
} from './ports.js';
export { componentDecider } from './domain/component.js';

export {
  BuildProgress,
  type BuildStatus,
  readBuildStatus,
  type SourceProgress,
  writeBuildStatus,
} from './registry/build-progress.js';
export { RegistrySync, type Synced } from './registry/registry-sync.js';
export { registryFolder } from './registry/registry-folder.js';
export { RegistrySources, type RegistryPackages, type RegistrySource } from './registry/registry-sources.js';
export { registryDecider, REGISTRY_WORKSPACE } from './registry/registry-entry.js';

import { type Projection } from '#libs/kernel/projection.js';
import { codeSizesProjection } from './read-models/code-sizes.projection.js';
import { packageUsesProjection } from './read-models/package-uses.projection.js';
import { appsProjection } from './read-models/apps.projection.js';
import { registryProjection } from './registry/registry.projection.js';
import { componentsProjection } from './read-models/components.projection.js';

export const componentsProjections: readonly Projection[] = [
  componentsProjection,
  codeSizesProjection,
  registryProjection,
  packageUsesProjection,
  appsProjection,
];
