// node examples/mail-server.mjs PORT: a mail server on this machine that delivers nothing. It prints each mail.
import { SMTPServer } from 'smtp-server';

/** Undoes quoted-printable, which is enough for the texts of the examples. */
const readable = (mail) =>
  mail.replaceAll(/=\r?\n/g, '').replaceAll(/=([0-9A-F]{2})/g, (_, hex) => String.fromCharCode(parseInt(hex, 16)));

const server = new SMTPServer({
  authOptional: true,
  disabledCommands: ['STARTTLS'],
  onData(stream, { envelope }, done) {
    const chunks = [];
    stream.on('data', (chunk) => chunks.push(chunk));
    stream.on('end', () => {
      console.log(`Mail to ${envelope.rcptTo.map(({ address }) => address).join(', ')}`);
      console.log(readable(Buffer.concat(chunks).toString()));
      done();
    });
  },
});
server.on('error', (error) => console.error(error.message));
server.listen(Number(process.argv[2]), '127.0.0.1');
