import { recordRuns, type RecordedRuns } from '#libs/workflow-history/index.js';
import { runsKept } from '../read-models.js';
import { type RoleProcess } from './role-process.js';

/** Keeps the history of runs, in each process for its share of the lanes. */
export const keepRunHistory = async (
  process: Pick<RoleProcess, 'config' | 'plane' | 'logger' | 'closing'>,
): Promise<RecordedRuns> => {
  const { config, plane, logger, closing } = process;
  const { log, runHistory } = plane.engines;
  const workflows = plane.views.workflows;
  const runs = await recordRuns({ log, runHistory, workflows, kept: runsKept(config), clock: plane.clock, logger });
  closing('run history', () => runs.close());
  return runs;
};
