export { componentsContext } from './context.js';
export { ComponentsModule } from './components.module.js';
export { crawledFetcher, type FetchText } from './fetch/crawled-fetcher.js';
export {
  DEFAULT_CODE_LIMITS,
  DEFAULT_INSPECTION_LIMITS,
  type ComponentCalls,
  type ComponentFetcher,
  type ComponentInspector,
  type ComponentUsers,
} from './ports.js';
export { BuildProgress, type BuildStatus, readBuildStatus } from './registry/build-progress.js';
export { keepRegistry } from './registry/kept-registry.js';
export { RegistrySync, type Synced } from './registry/registry-sync.js';
export { RegistrySources, type RegistryPackages, type RegistrySource } from './registry/registry-sources.js';
export { REGISTRY_WORKSPACE } from './registry/registry-entry.js';
export { toolActions } from './tool-actions.js';
