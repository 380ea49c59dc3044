import { SharedAnswers } from '#libs/async/shared-answers.js';
import { deadAccounts } from '#libs/accounts/index.js';
import { type QuotaKeeper } from '#libs/tenancy/index.js';
import { StatsOfWebhooks, type WaitingDeliveries, webhooksOfWorkspace } from '#libs/webhooks/index.js';
import { type ApiOptions } from './api.js';
import { type ModulePorts } from './contexts.js';
import { type ControlPlane } from './control-plane.js';

type OverviewPorts = Pick<
  ModulePorts,
  'minuteCounts' | 'holdings' | 'webhookFailures' | 'deadAccounts' | 'refusals' | 'backlogHere'
>;

/** Ports of the context that tells what goes on in a workspace. */
export const overviewPorts = (
  { plane, backlog, noRoom }: ApiOptions,
  waiting: WaitingDeliveries,
  keeper: QuotaKeeper,
): OverviewPorts => ({
  minuteCounts: plane.usage,
  holdings: holdingsOf(plane),
  webhookFailures: new StatsOfWebhooks(plane.engines.readModels, waiting, plane.clock),
  deadAccounts: deadAccounts(plane.engines.readModels),
  refusals: {
    quotaOf: async (workspaceId) => (await keeper.exceededBy(workspaceId))?.text,
    disk: () => noRoom?.()?.message,
  },
  backlogHere: backlog,
});

interface Runnable {
  readonly sources: { readonly id: string; readonly name: string }[];
  readonly workflowIds: string[];
}

/** Time for which one look at the tables serves all workspaces. */
const LOOK_MS = 1_000;

const holdingsOf = ({ views, engines }: ControlPlane): ModulePorts['holdings'] => {
  const webhooksOf = webhooksOfWorkspace(engines.readModels);
  const looks = new SharedAnswers({
    find: async () => runnableByWorkspace(views),
    keptMs: LOOK_MS,
    most: 1,
    now: () => performance.now(),
  });
  return {
    of: async (workspaceId) => {
      const { sources = [], workflowIds = [] } = (await looks.of('')).get(workspaceId) ?? {};
      return { sources, workflowIds, webhooks: await webhooksOf(workspaceId) };
    },
  };
};

const runnableByWorkspace = ({
  sources,
  workflows,
}: Pick<ControlPlane['views'], 'sources' | 'workflows'>): ReadonlyMap<string, Runnable> => {
  const all = new Map<string, Runnable>();
  const of = (workspaceId: string): Runnable => {
    let own = all.get(workspaceId);
    if (!own) all.set(workspaceId, (own = { sources: [], workflowIds: [] }));
    return own;
  };
  for (const [id, { workspaceId, name }] of sources.all()) of(workspaceId).sources.push({ id, name });
  for (const { id, workspaceId } of workflows.all()) of(workspaceId).workflowIds.push(id);
  return all;
};
