import { auditable } from '#libs/kernel/auditable.js';
import { type Context } from '#libs/kernel/context.js';
import { CancelRunsReactor, type CancelRunsPorts } from './cancel-runs.reactor.js';
import { DraftCleanUpReactor, type DraftCleanUpPorts } from './clean-up/draft-clean-up.reactor.js';
import { WorkflowCleanUpReactor, type WorkflowCleanUpPorts } from './clean-up/workflow-clean-up.reactor.js';
import { workflowDecider } from './domain/workflow.js';
import { WORKFLOW_LIMITS } from './limits.js';
import { type WorkflowEvent } from './published.js';
import { workflowsProjection } from './read-models/workflows.projection.js';
import { RunUrlKeyView } from './run-url-key-view.js';
import { WorkflowsModule, type WorkflowsPorts } from './workflows.module.js';
import { WorkflowsView } from './workflows-view.js';

export const workflowsContext = {
  projections: [workflowsProjection],
  views: () => ({ workflows: new WorkflowsView(), runUrlKey: new RunUrlKeyView() }),
  reactors: {
    workflows: (ports: WorkflowCleanUpPorts) => new WorkflowCleanUpReactor(ports),
    'workflow drafts': (ports: DraftCleanUpPorts) => new DraftCleanUpReactor(ports),
    'workflow runs to cancel': (ports: CancelRunsPorts) => new CancelRunsReactor(ports),
  },
  ids: ['p'],
  limits: WORKFLOW_LIMITS,
  auditable: [auditable('p', workflowDecider)],
  workspaceAudit: [workflowDecider.category],
  holds: {
    what: 'workflow',
    from: 'WorkflowCreated' satisfies WorkflowEvent['type'],
    until: 'WorkflowDeleted' satisfies WorkflowEvent['type'],
  },
  module: (ports: WorkflowsPorts) => WorkflowsModule.forRoot(ports),
} as const satisfies Context;
