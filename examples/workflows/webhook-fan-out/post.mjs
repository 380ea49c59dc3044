/** Rejects unless the receiver takes the event. The server then tries the item again, or gives it up. */
export const post = async (receiver, $, event) => {
  const response = await fetch(receiver, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      // The same in each attempt and in each replay, so a receiver knows what it has.
      'idempotency-key': $.context.trace_id,
    },
    body: JSON.stringify(event.body),
    redirect: 'error',
    signal: AbortSignal.timeout(10_000),
  });
  await response.body?.cancel();
  if (!response.ok) throw new Error(`${receiver} answered ${response.status}`);
};
