import { type Collection, type Filter } from 'mongodb';

const PAGE = 200;

/**
 * Yields the documents in the order of their ids, page by page, up to the greatest id at the call. No cursor stays open
 * at the server, however slow the reader. `fields` limits the fields returned besides the id.
 */
export const documentsById = async function* <D extends { readonly _id: string }>(
  collection: Collection<D>,
  fields?: readonly (keyof D & string)[],
): AsyncGenerator<D> {
  const projection = fields && { _id: 1, ...Object.fromEntries(fields.map((field) => [field, 1])) };
  const [greatest] = await collection
    .find({}, { projection: { _id: 1 } })
    .sort({ _id: -1 })
    .limit(1)
    .toArray();
  if (!greatest) return;
  for (let after = ''; ;) {
    const filter = { _id: { $gt: after, $lte: greatest._id } } as Filter<D>;
    const page = await collection
      .find(filter, { ...(projection && { projection }) })
      .sort({ _id: 1 })
      .limit(PAGE)
      .toArray();
    for (const document of page) yield document as D;
    const last = page.at(-1);
    if (!last || page.length < PAGE) return;
    after = last._id;
  }
};
