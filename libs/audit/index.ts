export { AuditModule } from './audit.module.js';
export { auditable, type AuditableResource } from './ports.js';
