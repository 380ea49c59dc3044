import { DomainError } from '#libs/kernel/domain-error.js';
import { checkShape, type JsonObject } from '#libs/workflows/domain/check-shape.js';
import { checkRules, objectIn, stepsOf, textIn } from '#libs/workflows/domain/definition-rules.js';
import { DEFINITION, MAX_LEVELS } from '#libs/workflows/domain/definition-shape.js';
import { checkSize, nestsTooDeep } from '#libs/workflows/domain/definition-size.js';
import { type Fault, FAULT_CODES, Findings, type Path } from '#libs/workflows/domain/findings.js';
import { readUses } from '#libs/workflows/domain/uses.js';
import { checkExpressions } from './expression-faults.js';

export interface CheckedOffline {
  readonly errors: readonly Fault[];
  readonly warnings: readonly Fault[];
}

/** Checks all of a definition that needs no server. What only a workspace knows, such as its sources, counts as there. */
export const checkOffline = (definition: JsonObject): CheckedOffline => {
  const { errors } = found(definition, false);
  // Only as errors do warnings have their path in parts.
  const warnings = found(definition, true).errors.filter(({ code }) => !IS_FAULT.has(code));
  return { errors, warnings };
};

const IS_FAULT: ReadonlySet<string> = new Set(FAULT_CODES);

const found = (definition: JsonObject, strict: boolean): Findings => {
  const findings = new Findings(strict);
  if (nestsTooDeep(definition)) {
    findings.error([], 'range', `the definition nests deeper than ${MAX_LEVELS} levels`);
    return findings;
  }
  try {
    checkSize(definition);
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    findings.error([], 'range', error.message);
    return findings;
  }
  checkShape(DEFINITION, definition, [], findings);
  checkRules(definition, { isSource: () => true, isVariable: () => true, isPinned: () => false }, findings);
  checkExpressions(definition, findings);
  return findings;
};

/** Paths of the code, without `./`, that steps name and the definition itself does not have, with the first place. */
export const namedFiles = (definition: JsonObject): ReadonlyMap<string, Path> => {
  const given = objectIn(definition, 'files');
  const named = new Map<string, Path>();
  for (const [i, step] of stepsOf(definition)) {
    const uses = readUses(textIn(step, 'uses') ?? '');
    if (uses.kind === 'file' && !Object.hasOwn(given, uses.path) && !named.has(uses.path))
      named.set(uses.path, ['steps', i, 'uses']);
  }
  return named;
};
