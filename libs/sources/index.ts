export { sourcesContext } from './context.js';
export { SourcesModule } from './sources.module.js';
export { sourcesProjection } from './read-models/sources.projection.js';
export {
  SourcesView,
  type ArmedTimers,
  type ServedEndpoint,
  type SourceEntry,
  type SourceStatus,
} from './sources-view.js';
export { reconcileSources, type ReconcileDependencies, type Reconciled } from './reconcile-sources.js';
export { boundValue } from './domain/bound-value.js';
export { sourceDecider } from './domain/source.js';
export { nameSlugDecider } from './domain/name-slug.js';
export { hostEndpointUrls, pathEndpointUrls, type EndpointUrls } from './domain/endpoint-urls.js';
export { type AppEvents, type ManualRun, type ManualRuns } from './ports.js';
export { type HookedSource } from './app-hook-index.js';
