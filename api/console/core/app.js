/** The page's start: the code of the link becomes a session, which tells how the store is. */

const told = document.getElementById("told");
const link = new URLSearchParams(location.hash.slice(1));
history.replaceState(null, "", "/");

async function asked(path, body, token) {
  const headers = { "content-type": "application/json" };
  if (token) headers.authorization = `Bearer ${token}`;
  const answer = await fetch(path, {
    method: body === undefined ? "GET" : "POST",
    headers,
    body: body === undefined ? undefined : JSON.stringify(body),
    cache: "no-store",
    credentials: "omit",
    redirect: "error",
  });
  const document = await answer.json();
  if (!answer.ok) throw new Error(document.detail);
  return document;
}

try {
  if (!link.has("code")) throw new Error("Run `engramlog console` for a link that opens this page.");
  const session = await asked("/v1/console/session", { code: link.get("code") });
  const status = await asked("/v1/status", undefined, session.token);
  told.textContent = `${status.events} events, ${status.memories} memories`;
} catch (error) {
  told.textContent = error.message;
}
