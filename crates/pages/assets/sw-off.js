// Debug builds keep nothing. A release build that was looked at from the same address before may have left
// its copy of the site behind: this removes it.
addEventListener("install", () => skipWaiting());
addEventListener("activate", (event) => event.waitUntil(remove()));

async function remove() {
  for (const name of await caches.keys()) {
    if (name.startsWith(`notebook ${registration.scope} `)) await caches.delete(name);
  }
  await registration.unregister();
  for (const client of await clients.matchAll({ type: "window" })) client.navigate(client.url);
}
