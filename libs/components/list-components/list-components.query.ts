import { Inject } from '@nestjs/common';
import { type IQueryHandler, Query, QueryHandler } from '@nestjs/cqrs';
import { SerialQueue } from '#libs/async/serial-queue.js';
import { type Page, type PageQuery, type ReadModelStore } from '#libs/kernel/read-model-store.js';
import { READ_MODELS } from '#libs/kernel/tokens.js';
import { type SavedComponent } from '../domain/component.js';
import { COMPONENTS, type ComponentDoc } from '../read-models/components.projection.js';

export interface WantedComponents {
  readonly workspaceId: string;
  readonly kind: SavedComponent['kind'] | undefined;
  /** Part of the name or the key, in any case. Undefined for any. */
  readonly text: string | undefined;
}

/** The components of a workspace, those saved last first. */
export class ListComponents extends Query<Page<ComponentDoc>> {
  constructor(
    readonly wanted: WantedComponents,
    readonly page: Omit<PageQuery, 'where'>,
  ) {
    super();
  }
}

/** Components that are compared with a text, beginning with those saved last. */
export const MOST_COMPARED = 10_000;
const READ_AT_ONCE = 100;

@QueryHandler(ListComponents)
export class ListComponentsHandler implements IQueryHandler<ListComponents> {
  /** Comparisons take turns, because each reads many documents. */
  private readonly comparisons = new SerialQueue();

  constructor(@Inject(READ_MODELS) private readonly readModels: ReadModelStore) {}

  execute({ wanted, page }: ListComponents): Promise<Page<ComponentDoc>> {
    const { workspaceId, kind, text } = wanted;
    const where = { workspaceId, ...(kind === undefined ? {} : { kind }) };
    if (text === undefined) return this.readModels.page<ComponentDoc>(COMPONENTS, { ...page, where });
    return this.comparisons.run(() => this.matching(where, text.toLowerCase(), page));
  }

  /** Counts all matches, so it reads past the page. */
  private async matching(
    where: PageQuery['where'],
    text: string,
    { limit, after, before }: Omit<PageQuery, 'where'>,
  ): Promise<Page<ComponentDoc>> {
    const docs: ComponentDoc[] = [];
    let total = 0;
    let isPast = after === undefined;
    let isBefore = true;
    for await (const doc of this.all(where)) {
      // A page before a cursor is the end of what comes before it.
      if (doc.id === before) isBefore = false;
      if (hasText(doc, text)) {
        total++;
        if (isPast && isBefore && (before !== undefined || docs.length < limit)) docs.push(doc);
        if (docs.length > limit) docs.shift();
      }
      if (doc.id === after) isPast = true;
    }
    return { docs, total };
  }

  private async *all(where: PageQuery['where']): AsyncIterable<ComponentDoc> {
    let after: string | undefined;
    for (let read = 0; read < MOST_COMPARED; read += READ_AT_ONCE) {
      const cursor = after === undefined ? {} : { after };
      const query = { where, limit: READ_AT_ONCE, withTotal: false, ...cursor };
      const { docs } = await this.readModels.page<ComponentDoc>(COMPONENTS, query);
      yield* docs;
      if (docs.length < READ_AT_ONCE) return;
      after = docs.at(-1)?.id;
    }
  }
}

const hasText = ({ key, component: { name } }: ComponentDoc, text: string): boolean =>
  name.toLowerCase().includes(text) || key.toLowerCase().includes(text);
