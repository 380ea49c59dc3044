/**
 * First line of a bundle that is an ES module, because its code awaits at the top. All others are CommonJS. A component
 * that writes the line itself is only loaded in another way, in its own jail.
 */
export const ES_MODULE = '// es module\n';
