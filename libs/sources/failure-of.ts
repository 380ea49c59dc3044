import { DomainError } from '#libs/kernel/domain-error.js';
import { type Observation } from './published.js';

/** Why an operation failed, for its event. Of a failure of the platform only the kind is kept: its text may hold anything. */
export const failureOf = (error: unknown): { reason: string; observations: readonly Observation[] } => {
  if (!(error instanceof DomainError)) {
    return { reason: `platform failure: ${error instanceof Error ? error.name : typeof error}`, observations: [] };
  }
  const observations = error.details?.['observations'];
  return {
    reason: error.message.slice(0, 4_000),
    observations: Array.isArray(observations) ? (observations as readonly Observation[]) : [],
  };
};
