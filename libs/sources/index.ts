export { sourcesContext } from './context.js';
export { SourcesModule } from './sources.module.js';
export { SourcesView } from './sources-view.js';
export { reconcileSources, type Reconciled } from './reconcile-sources.js';
export { boundValue } from './domain/bound-value.js';
export { hostEndpointUrls, pathEndpointUrls, type EndpointUrls } from './domain/endpoint-urls.js';
export { type AppEvents, type ManualRuns, type SourceDbs } from './ports.js';
