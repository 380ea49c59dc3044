import { type Config } from '#libs/config/index.js';
import { type Admission } from '#libs/ingress/admission.js';
import { type ActionRunner } from '#libs/actions/published.js';
import { type AppEvents, type ManualRuns } from '#libs/sources/index.js';
import { QuotaKeeper } from '#libs/tenancy/index.js';
import { type Logger } from '#libs/telemetry/index.js';
import { type WorkflowInvokes } from '#libs/workflow-history/index.js';
import { type ControlPlane } from './control-plane.js';

export const quotaKeeper = (config: Config, { usage, clock }: ControlPlane, logger: Logger): QuotaKeeper =>
  new QuotaKeeper({
    usage,
    credits: config.dailyCredits,
    clock,
    onFailure: (err) => logger.warn({ err }, 'quotas.not_checked: usage cannot be read'),
  });

/** Refuses events of a workspace that has used up its quota. */
export const withinQuotas = (keeper: QuotaKeeper): Admission => ({
  enter({ workspaceId }) {
    const exceeded = keeper.exceededBy(workspaceId);
    if (exceeded === undefined) return true;
    return Promise.resolve(exceeded).then((found) =>
      found === undefined
        ? undefined
        : { status: 429, code: 'quota_exceeded', text: found.text, retryAfterS: found.retryAfterS },
    );
  },
  left: () => undefined,
});

/** Invokes and replays within the quota of the workspace. */
export const invokingWithin = (keeper: QuotaKeeper, workflowInvokes: WorkflowInvokes): WorkflowInvokes => ({
  invoke: async (call) => {
    await keeper.mustHaveLeft(call.workspaceId);
    return workflowInvokes.invoke(call);
  },
  replay: async (replay, repeatId) => {
    await keeper.mustHaveLeft(replay.origin.ownerId);
    return workflowInvokes.replay(replay, repeatId);
  },
});

interface StartsRuns {
  readonly manualRuns: ManualRuns;
  readonly appEvents: AppEvents;
  readonly workflowInvokes: WorkflowInvokes;
  readonly actions: ActionRunner;
}

/** The ways in which a request to the API starts a run, each refused beyond a quota. */
export const startingRuns = (
  keeper: QuotaKeeper,
  { manualRuns, appEvents, workflowInvokes, actions }: StartsRuns,
): StartsRuns => ({
  manualRuns: {
    run: async (sourceId, workspaceId, event, wait) => {
      await keeper.mustHaveLeft(workspaceId);
      return manualRuns.run(sourceId, workspaceId, event, wait);
    },
  },
  appEvents: {
    send: async (event) => {
      await keeper.mustHaveLeft(event.workspaceId);
      return appEvents.send(event);
    },
  },
  workflowInvokes: invokingWithin(keeper, workflowInvokes),
  actions: {
    run: async (request) => {
      await keeper.mustHaveLeft(request.workspaceId);
      return actions.run(request);
    },
  },
});
