import { type Context } from '#libs/kernel/context.js';
import { AuditModule, type AuditPorts } from './audit.module.js';

/** Its read model depends on what all contexts say of `workspaceAudit`, so composition makes it. */
export const auditContext = {
  module: (ports: AuditPorts) => AuditModule.forRoot(ports),
} as const satisfies Context;
