import { type SourceDefinition } from '#libs/sources/published.js';

/**
 * Time after its last hook at which an unfinished operation counts as dead with its process. No operation goes this
 * long without a hook.
 */
const LASTS_MS = 15 * 60_000;

/** Makes a source run with a hook's definition, from the start of the hook to the end of its operation. */
export class DefinitionOverride {
  private held: { readonly definition: SourceDefinition; until: number } | undefined;

  /** Starts the override. The caller calls the returned function when the hook has ended. */
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
