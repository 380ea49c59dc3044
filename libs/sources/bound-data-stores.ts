import { Inject, Injectable } from '@nestjs/common';
import { DATA_STORE_CATALOG, type DataStoreCatalog } from '#libs/data-stores/published.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { type CommandContext } from '#libs/kernel/handle-command.js';
import { unlabelled } from './domain/bound-value.js';
import { type ConfiguredValue, type SourceDefinition } from './published.js';

/** Puts the ids of data stores in place of the names that props of type data_store were given. */
@Injectable()
export class BoundDataStores {
  constructor(@Inject(DATA_STORE_CATALOG) private readonly dataStores: DataStoreCatalog) {}

  /**
   * Creates the data stores of unused names (docs/reference/rest-api.md#configured-data-store). Call it once the rest of
   * the definition is checked. Throws source.invalid_prop for an id that the workspace does not have.
   */
  async bound(definition: SourceDefinition, context: CommandContext): Promise<SourceDefinition> {
    const { storeProps = [] } = definition;
    if (storeProps.length === 0) return definition;
    const values = new Map<string, ConfiguredValue>(Object.entries(definition.values));
    for (const prop of storeProps) {
      const configured = values.get(prop);
      if (!configured || 'secretRef' in configured) continue;
      values.set(prop, { value: await this.idOf(prop, String(unlabelled(configured.value)), context) });
    }
    return { ...definition, values: Object.fromEntries(values) };
  }

  private async idOf(prop: string, given: string, context: CommandContext): Promise<string> {
    try {
      return await this.dataStores.resolve(given, context);
    } catch (error) {
      if (!(error instanceof DomainError) || !REFUSED.has(error.code)) throw error;
      const message = `prop ${prop} (data_store): ${error.message}`;
      throw new DomainError('source.invalid_prop', message, { ...error.details, prop });
    }
  }
}

const REFUSED: ReadonlySet<string> = new Set(['data_store.not_found', 'data_store.invalid_name']);
