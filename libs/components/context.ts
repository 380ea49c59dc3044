import { auditable } from '#libs/kernel/auditable.js';
import { type Context } from '#libs/kernel/context.js';
import { ComponentsModule, type ComponentsPorts } from './components.module.js';
import { componentDecider } from './domain/component.js';
import { COMPONENT_LIMITS } from './limits.js';
import { appsProjection } from './read-models/apps.projection.js';
import { codeSizesProjection } from './read-models/code-sizes.projection.js';
import { componentsProjection } from './read-models/components.projection.js';
import { packageUsesProjection } from './read-models/package-uses.projection.js';
import { registryProjection } from './registry/registry.projection.js';

export const componentsContext = {
  projections: [componentsProjection, codeSizesProjection, registryProjection, packageUsesProjection, appsProjection],
  ids: ['sc'],
  limits: COMPONENT_LIMITS,
  auditable: [auditable('sc', componentDecider)],
  workspaceAudit: [componentDecider.category],
  module: (ports: ComponentsPorts) => ComponentsModule.forRoot(ports),
} as const satisfies Context;
