/** What the text `uses` names. */
export type Uses =
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'id'; readonly id: string }
  /** `ownOnly`: the registry is not searched. */
  | { readonly kind: 'key'; readonly key: string; readonly version?: string; readonly ownOnly: boolean };

/** Reads `./path`, `sc_…`, `key`, `key@1.2.3`, `key@^1.2.3` or `@workspace/key@…`. */
export const readUses = (text: string): Uses => {
  if (text.startsWith('./')) return { kind: 'file', path: text.slice(2) };
  if (text.startsWith('sc_')) return { kind: 'id', id: text };
  // The name of the workspace is that of another installation, so it is not compared.
  const own = /^@[^/]*\/(.*)$/s.exec(text);
  const rest = own?.[1] ?? text;
  const at = rest.lastIndexOf('@');
  const ownOnly = own !== null;
  return at > 0
    ? { kind: 'key', key: rest.slice(0, at), version: rest.slice(at + 1), ownOnly }
    : { kind: 'key', key: rest, ownOnly };
};
