/** Makes a slug of a name; never empty. See docs/reference/rest-api.md#source-name-slug. */
export const slugOf = (name: string): string => {
  const plain = name.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
  const slug = plain.replace(/[^a-z0-9]+/g, '-').replace(/^-+|-+$/g, '');
  return slug.slice(0, MAX_SLUG).replace(/-+$/, '') || 'source';
};

export const MAX_SLUG = 200;
