export { auditContext } from './context.js';
export { AuditModule } from './audit.module.js';
export { CHANGES, ChangeSource } from './stream-changes/change-source.js';
export { tailChanges } from './stream-changes/changes-tail.js';
export { workspaceAuditProjection } from './read-models/workspace-audit.projection.js';
