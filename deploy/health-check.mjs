// For HEALTHCHECK: exits 0 when this container's process answers 200 on the path given (default /healthz).
const path = process.argv[2] ?? '/healthz';
const port = process.env.SLUICE_PORT || '3000';
try {
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, { signal: AbortSignal.timeout(4_000) });
  const body = await answer.text();
  if (!answer.ok) {
    process.stderr.write(`${path} answered ${answer.status}: ${body.slice(0, 1000)}\n`);
    process.exitCode = 1;
  }
} catch (error) {
  process.stderr.write(`${path} does not answer: ${error}\n`);
  process.exitCode = 1;
}
