// Looks every two seconds whether the page has news, and puts them in place: no scrolling, no closing of what is open.
"use strict";
const main = document.querySelector("main");
const word = document.querySelector("[role=status]");
let version = main.dataset.version;

async function look() {
  try {
    const news = await (await fetch(main.dataset.news, { cache: "no-store" })).json();
    if (news.version !== version) {
      const text = await (await fetch(location.pathname, { cache: "no-store" })).text();
      put(new DOMParser().parseFromString(text, "text/html").querySelector("main"));
      version = news.version;
    }
    word.textContent = "updates by itself";
  } catch {
    word.textContent = "the server does not answer";
  }
  setTimeout(look, 2000);
}

function put(fresh) {
  const open = [...main.querySelectorAll("details")].map((one) => one.open);
  const focused = document.activeElement?.getAttribute("href");
  main.replaceChildren(...fresh.childNodes);
  main.querySelectorAll("details").forEach((one, at) => { one.open = open[at] ?? one.open; });
  if (focused) [...main.querySelectorAll("a")].find((one) => one.getAttribute("href") === focused)?.focus({ preventScroll: true });
}

look();
