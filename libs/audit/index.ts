export { auditContext } from './context.js';
export { AuditModule } from './audit.module.js';
export { workspaceAuditProjection } from './read-models/workspace-audit.projection.js';
