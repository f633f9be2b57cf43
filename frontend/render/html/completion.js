
// Completes what is typed into the search box: an ARIA combobox with a list below it, whose options are
// chosen by arrow keys and Enter or by pointer. Without this script the box is a plain one.
"use strict";
(() => {
  const box = document.getElementById("query");
  if (!box || !box.form || !window.fetch || !window.AbortController) return;
  const pause_ms = 80;
  const list = document.createElement("ul");
  const status = document.createElement("p");
  let shown_for = "";
  let typed = box.value;
  let active = -1;
  let timer = 0;
  let asking = null;

  list.id = "completions";
  list.className = "completions";
  list.hidden = true;
  list.setAttribute("role", "listbox");
  list.setAttribute("aria-label", "Completions");
  status.className = "visually-hidden";
  status.setAttribute("role", "status");
  box.form.append(list, status);
  for (const [name, value] of [["role", "combobox"], ["aria-autocomplete", "list"],
                               ["aria-expanded", "false"], ["aria-controls", list.id]]) {
    box.setAttribute(name, value);
  }

  const activate = (index) => {
    active = index;
    [...list.children].forEach((option, i) => {
      option.setAttribute("aria-selected", String(i === index));
    });
    if (index >= 0) {
      box.setAttribute("aria-activedescendant", list.children[index].id);
      box.value = list.children[index].textContent;
    } else {
      box.removeAttribute("aria-activedescendant");
      box.value = typed;
    }
  };

  const close = () => {
    list.hidden = true;
    active = -1;
    box.setAttribute("aria-expanded", "false");
    box.removeAttribute("aria-activedescendant");
    status.textContent = "";
  };

  const choose = (text) => {
    box.value = text;
    close();
    box.form.requestSubmit();
  };

  const show = (texts) => {
    list.replaceChildren(...texts.map((text, i) => {
      const option = document.createElement("li");
      option.id = "completion-" + i;
      option.dir = "auto";
      option.textContent = text;
      option.setAttribute("role", "option");
      option.setAttribute("aria-selected", "false");
      option.addEventListener("pointerdown", (event) => event.preventDefault());
      option.addEventListener("click", () => choose(text));
      return option;
    }));
    if (texts.length === 0 || document.activeElement !== box) return close();
    active = -1;
    list.hidden = false;
    box.setAttribute("aria-expanded", "true");
    box.removeAttribute("aria-activedescendant");
    status.textContent = texts.length === 1 ? "1 completion" : texts.length + " completions";
  };

  const ask = async () => {
    if (asking) asking.abort();
    asking = new AbortController();
    const text = typed;
    try {
      const answer = await fetch("/suggest?q=" + encodeURIComponent(text), {signal: asking.signal});
      if (!answer.ok) return close();
      const texts = (await answer.json())[1];
      if (typed !== text) return;
      shown_for = text;
      show(texts);
    } catch (error) {
      if (error.name !== "AbortError") close();
    }
  };

  box.addEventListener("input", () => {
    typed = box.value;
    clearTimeout(timer);
    if (typed.trim() === "") {
      if (asking) asking.abort();
      return close();
    }
    timer = setTimeout(ask, pause_ms);
  });

  box.addEventListener("keydown", (event) => {
    const count = list.children.length;
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      if (list.hidden) {
        if (count > 0 && shown_for === box.value) show([...list.children].map((o) => o.textContent));
        return;
      }
      event.preventDefault();
      const step = event.key === "ArrowDown" ? 1 : -1;
      // Behind the last option, and before the first, stands what was typed.
      activate((active + 1 + step + count + 1) % (count + 1) - 1);
    } else if (event.key === "Escape" && !list.hidden) {
      event.preventDefault();
      box.value = typed;
      close();
    } else if (event.key === "Enter") {
      clearTimeout(timer);
      if (asking) asking.abort();
      close();
    }
  });

  box.addEventListener("blur", close);
})();
