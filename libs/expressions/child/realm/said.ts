/** First letter of what one evaluation says. */
export const SAID = {
  /** Followed by the JSON text of the value. */
  json: 'j',
  undefined: 'u',
  /** The value has no JSON. Followed by what it is. */
  noJson: 'n',
  /** Followed by the number of characters. */
  tooLarge: 'l',
  /** Followed by name and message. */
  threw: 't',
} as const;
