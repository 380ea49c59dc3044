export { componentsContext } from './context.js';
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
export { keepRegistry } from './registry/kept-registry.js';
export { RegistrySync, type Synced } from './registry/registry-sync.js';
export { registryFolder } from './registry/registry-folder.js';
export { RegistrySources, type RegistryPackages, type RegistrySource } from './registry/registry-sources.js';
export { registryDecider, REGISTRY_WORKSPACE } from './registry/registry-entry.js';
