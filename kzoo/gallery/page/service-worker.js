// Keeps the gallery for use offline: everything is fetched once, and the network is asked first.
const CACHE = "kzoo-gallery";

addEventListener("install", (event) => {
  event.waitUntil(
    (async () => {
      const { files } = await (await fetch("gallery.json")).json();
      const cache = await caches.open(CACHE);
      await cache.addAll(["./", ...files]);
      await skipWaiting();
    })(),
  );
});

addEventListener("activate", (event) => event.waitUntil(clients.claim()));

addEventListener("fetch", (event) => {
  const { request } = event;
  if (request.method !== "GET" || new URL(request.url).origin !== location.origin) return;
  event.respondWith(
    (async () => {
      const cache = await caches.open(CACHE);
      try {
        const answer = await fetch(request);
        if (answer.ok) await cache.put(request, answer.clone());
        return answer;
      } catch (error) {
        const kept = await cache.match(request, { ignoreSearch: true });
        if (kept) return kept;
        throw error;
      }
    })(),
  );
});
