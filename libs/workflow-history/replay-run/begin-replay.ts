import { type Actor } from '#libs/kernel/events.js';
import { type ReplayRefusal, replayStart, type RunReplay } from '#libs/workflow-runs/replay-start.js';
import { originOf, type RunState } from '#libs/workflow-runs/run-state.js';
import { type ShownStep, type ShownWorkflow } from '../ports.js';
import { type ListedRun } from '../run-history.js';

export const REPLAY_VERSIONS = ['current', 'same', 'draft'] as const;
export type ReplayVersion = (typeof REPLAY_VERSIONS)[number];

export interface ReplayOptions {
  readonly from: string;
  readonly version: ReplayVersion;
  /** JSON text that replaces the event. Null keeps that of the run. */
  readonly event: string | null;
  readonly by: Actor;
}

export type BegunRefusal = ReplayRefusal | { readonly refused: 'no_draft' | 'not_deployed' | 'inactive' };

export interface BegunReplay {
  readonly begins: RunReplay | BegunRefusal;
  /** Of the version that the replay runs. */
  readonly steps: readonly ShownStep[];
}

/** Decides what a replay of a run begins with. The run needs the texts that the replay reuses. */
export const beginReplay = async (
  stepsOfVersion: (workflowId: string, id: string | null) => Promise<readonly ShownStep[]>,
  { workflowId, state }: ListedRun,
  workflow: ShownWorkflow,
  { version, ...request }: ReplayOptions,
): Promise<BegunReplay> => {
  const chosen = versionToRun(version, state, workflow);
  if ('refused' in chosen) return { begins: chosen, steps: [] };
  const isTest = chosen.isDraft || originOf(state).test;
  if (!workflow.active && !isTest) return { begins: { refused: 'inactive' }, steps: [] };
  const { startsWith } = chosen;
  const steps = await stepsOfVersion(workflowId, startsWith ?? workflow.deploymentId);
  return { begins: replayStart({ steps }, state, { ...request, startsWith, isTest }), steps };
};

/** The version or draft that a replay names. Null for the version in force when it starts. */
const versionToRun = (
  version: ReplayVersion,
  state: RunState,
  { deploymentId, draft }: ShownWorkflow,
): { readonly startsWith: string | null; readonly isDraft: boolean } | BegunRefusal => {
  const { startsWith: begun = null } = originOf(state);
  const { version: pinned } = state.head;
  const isSameDraft = version === 'same' && begun !== null && pinned?.version === null;
  if (version === 'draft' || isSameDraft) {
    if (!draft || (isSameDraft && draft.id !== begun)) return { refused: 'no_draft' };
    return { startsWith: draft.id, isDraft: true };
  }
  // A run that never started has no version, so it starts with the deployed one.
  const startsWith = version === 'same' ? (pinned?.deploymentId ?? null) : null;
  return startsWith === null && deploymentId === null ? { refused: 'not_deployed' } : { startsWith, isDraft: false };
};
