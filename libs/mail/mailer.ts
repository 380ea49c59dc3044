export interface Mail {
  readonly to: string;
  readonly subject: string;
  /** Plain text. */
  readonly text: string;
  /** Equal for a repeat, so that a mail program shows it once. */
  readonly messageId: string;
}

/** Rejects with MailRefused when the server took the connection and not this mail, with another error else. */
export interface Mailer {
  /** Resolves when the server has taken the mail. */
  send(mail: Mail): Promise<void>;
  close(): void;
}

/** The server refused one mail: for good, or for now. */
export class MailRefused extends Error {
  constructor(
    message: string,
    readonly isFinal: boolean,
  ) {
    super(message);
    this.name = 'MailRefused';
  }
}
