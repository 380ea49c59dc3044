export { AuditModule } from './audit.module.js';
export { workspaceAuditProjection } from './read-models/workspace-audit.projection.js';
export { auditable, type AuditableResource } from './ports.js';
