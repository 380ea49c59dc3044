import { auditable } from '#libs/kernel/auditable.js';
import { type Context } from '#libs/kernel/context.js';
import { sourceDecider } from './domain/source.js';
import { SOURCE_LIMITS } from './limits.js';
import { type SourceEvent } from './published.js';
import { sourcesProjection } from './read-models/sources.projection.js';
import { SourcesModule, type SourcesPorts } from './sources.module.js';
import { SourcesView } from './sources-view.js';

export const sourcesContext = {
  projections: [sourcesProjection],
  views: () => ({ sources: new SourcesView() }),
  ids: ['dc', 'inv'],
  limits: SOURCE_LIMITS,
  auditable: [auditable('dc', sourceDecider)],
  workspaceAudit: [sourceDecider.category],
  holds: {
    what: 'source',
    from: 'SourceDeployed' satisfies SourceEvent['type'],
    until: 'SourceDeleted' satisfies SourceEvent['type'],
  },
  module: (ports: SourcesPorts) => SourcesModule.forRoot(ports),
} as const satisfies Context;
