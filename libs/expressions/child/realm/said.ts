/** First letter of the result of one evaluation. */
export const SAID = {
  /** Followed by the JSON text of the value. */
  json: 'j',
  undefined: 'u',
  /** The value has no JSON. Followed by its kind. */
  noJson: 'n',
  /** Followed by the number of characters. */
  tooLarge: 'l',
  /** Followed by name and message. */
  threw: 't',
} as const;
