/** The name of a variable as it may be set: any other could never have a value. */
const VARIABLE = /^\{\{process\.env\.((?!SLUICE_|NODE_|LD_)[A-Za-z_][A-Za-z0-9_]{0,99})\}\}$/;

/** The variable that a token names. Undefined for a token that is a text. */
export const variableOfToken = (token: string): string | undefined => VARIABLE.exec(token)?.[1];

export const tokenOfVariable = (name: string): string => `{{process.env.${name}}}`;

/** Whether it was meant as a variable, and names none. As a text it would be a token that anybody can guess. */
export const isWrongVariable = (token: string): boolean =>
  token.startsWith('{{') && variableOfToken(token) === undefined;
