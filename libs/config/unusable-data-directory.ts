/** The data directory cannot be used. The message says what is wrong with it and what to do. */
export class UnusableDataDirectory extends Error {
  override readonly name = 'UnusableDataDirectory';
}
