import { type Context } from '#libs/kernel/context.js';
import { AuditModule, type AuditPorts } from './audit.module.js';

/** Composition creates the read model, because it depends on `workspaceAudit` of all contexts. */
export const auditContext = {
  module: (ports: AuditPorts) => AuditModule.forRoot(ports),
} as const satisfies Context;
