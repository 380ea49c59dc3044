import { Inject, Injectable } from '@nestjs/common';
import { DATA_STORE_CATALOG, type DataStoreCatalog } from '#libs/data-stores/published.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { type CommandContext } from '#libs/kernel/handle-command.js';
import { unlabelled } from './domain/bound-value.js';
import { type PlannedProp, propsOf, type SourceDefinition } from './published.js';

/** Replaces names of data stores in props of type data_store by their ids. */
@Injectable()
export class BoundDataStores {
  constructor(@Inject(DATA_STORE_CATALOG) private readonly dataStores: DataStoreCatalog) {}

  /**
   * Creates the data stores of unused names (docs/reference/rest-api.md#configured-data-store). Call it once the rest of
   * the definition is checked. Throws source.invalid_prop for an id that the workspace does not have.
   */
  async bound(definition: SourceDefinition, context: CommandContext): Promise<SourceDefinition> {
    if (propsOf(definition, 'store').length === 0) return definition;
    const props: PlannedProp[] = [];
    for (const planned of definition.props) {
      if (planned.kind !== 'store') props.push(planned);
      else props.push({ ...planned, value: await this.idOf(planned.prop, String(unlabelled(planned.value)), context) });
    }
    return { ...definition, props };
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
