import { type SourceDefinition } from '../sources/published.js';

/**
 * An operation that does not say that it has ended for so long after its last hook was given up: the process that ran
 * it died. Longer than any operation lasts without a hook.
 */
const LASTS_MS = 15 * 60_000;

/** From a hook on, a source runs with the hook's definition until its operation has ended. */
export class DefinitionOverride {
  private held: { readonly definition: SourceDefinition; until: number } | undefined;

  /** Call what it returns when the hook has ended. */
  begin(definition: SourceDefinition): (now: number) => void {
    const held = { definition, until: Infinity };
    this.held = held;
    return (now) => (held.until = now + LASTS_MS);
  }

  end(): void {
    this.held = undefined;
  }

  active(): boolean {
    return this.held !== undefined;
  }

  current(now: number): SourceDefinition | undefined {
    if (this.held && this.held.until < now) this.held = undefined;
    return this.held?.definition;
  }
}
