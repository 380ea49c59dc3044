import { DomainError } from '#libs/kernel/domain-error.js';
import { type Observation } from './published.js';

/** Reason of a failed operation for its event. A platform failure gives only its kind, as its text may hold secrets. */
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
