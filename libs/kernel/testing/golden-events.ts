import { readFileSync } from 'node:fs';
import { type Context } from '../context.js';
import { type Decider, fold } from '../decider.js';
import { type DomainEvent } from '../events.js';
import { Upcasters } from '../upcasting.js';
import { recorded } from './recorded.js';

/** A type of event, alone or with the variant of its golden JSON: `ApiKeyIssued.limits`. */
export type GoldenName<E extends DomainEvent> = E['type'] | `${E['type']}.${string}`;

/** Reads and folds the golden events of a context (test/fixtures/events), upcast to the version that it writes. */
export class GoldenEvents {
  private readonly upcasters = new Upcasters();

  constructor({ upcasters = {} }: Context) {
    for (const [type, steps] of Object.entries(upcasters)) this.upcasters.register(type, steps);
  }

  read<E extends DomainEvent>(name: GoldenName<E>, version = 1): E {
    const [type = '', ...variant] = name.split('.');
    const path = [type, `v${version}`, ...variant, 'json'].join('.');
    const text = readFileSync(new URL(`../../../test/fixtures/events/${path}`, import.meta.url), 'utf8');
    const { data, schemaVersion } = JSON.parse(text) as { data: object; schemaVersion: number };
    if (schemaVersion !== version) throw new Error(`${path} has the version ${schemaVersion}`);
    const lifted = this.upcasters.upcast(recorded('x-1', { type, data }, { metadata: { schemaVersion } }));
    return { type: lifted.type, data: lifted.data } as E;
  }

  /** The state after these events. Every version of the last one folds; the newest one counts. */
  after<C, E extends DomainEvent, S>(decider: Decider<C, E, S>, ...names: readonly GoldenName<E>[]): S {
    const last = names.at(-1);
    const before = fold(
      decider,
      names.slice(0, -1).map((name) => this.read<E>(name)),
    );
    if (last === undefined) return before;
    let after = before;
    const newest = last.includes('.') ? 1 : this.upcasters.currentVersion(last);
    for (let version = 1; version <= newest; version++) after = decider.evolve(before, this.read<E>(last, version));
    return after;
  }
}
