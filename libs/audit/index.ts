export { AuditModule } from './audit.module.js';
export { auditable, AUDITABLE_RESOURCES, type AuditableResource } from './ports.js';
