export const AUDITABLE_RESOURCES = Symbol('AuditableResources');
