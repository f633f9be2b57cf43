
// Completes the text in the search box: an ARIA combobox (ARIA Authoring Practices, editable
// combobox with list autocomplete) with a listbox below it. Without this script the box is a plain
// text field.
//
//   Down, Up       shows the next or previous completion in the box and opens the list; after the
//                  last completion comes the typed text
//   Alt+Down, Up   opens the list without a selection; closes it
//   Enter          searches for the text in the box
//   Escape         closes the list and restores the typed text; if it is closed, clears the box
//   Home, End, Left, Right   continue editing with the completion that the box shows
//   Tab            leaves the box unchanged
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
      list.children[index].scrollIntoView({block: "nearest"});
    } else {
      box.removeAttribute("aria-activedescendant");
      box.value = typed;
    }
  };

  // Makes the completion that the box shows the typed text.
  const keep = () => {
    if (active < 0) return;
    typed = box.value;
    active = -1;
    [...list.children].forEach((option) => option.setAttribute("aria-selected", "false"));
    box.removeAttribute("aria-activedescendant");
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

  const forget = () => {
    clearTimeout(timer);
    if (asking) asking.abort();
  };

  // Shows the completions of the typed text; activates the first or last if `step` is 1 or -1.
  const ask = async (step) => {
    forget();
    asking = new AbortController();
    const text = typed;
    try {
      const answer = await fetch("/suggest?q=" + encodeURIComponent(text), {signal: asking.signal});
      if (!answer.ok) return close();
      const texts = (await answer.json())[1];
      if (typed !== text) return;
      shown_for = text;
      show(texts);
      if (step && !list.hidden) activate(step > 0 ? 0 : texts.length - 1);
    } catch (error) {
      if (error.name !== "AbortError") close();
    }
  };

  const open = (step) => {
    if (typed.trim() === "") return;
    if (shown_for !== typed) return ask(step);
    show([...list.children].map((option) => option.textContent));
    if (step && !list.hidden) activate(step > 0 ? 0 : list.children.length - 1);
  };

  const move = (event) => {
    const step = event.key === "ArrowDown" ? 1 : -1;
    event.preventDefault();
    if (event.altKey && step < 0) return close();
    if (list.hidden) return open(event.altKey ? 0 : step);
    if (event.altKey) return;
    // The typed text is the position after the last option and before the first.
    const count = list.children.length;
    activate((active + 1 + step + count + 1) % (count + 1) - 1);
  };

  const escape = (event) => {
    if (!list.hidden) {
      box.value = typed;
    } else if (box.value !== "") {
      box.value = typed = "";
    } else {
      return;
    }
    event.preventDefault();
    forget();
    close();
  };

  box.addEventListener("input", () => {
    typed = box.value;
    clearTimeout(timer);
    if (typed.trim() === "") {
      forget();
      return close();
    }
    timer = setTimeout(ask, pause_ms, 0);
  });

  box.addEventListener("keydown", (event) => {
    if (event.isComposing || event.ctrlKey || event.metaKey) return;
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      move(event);
    } else if (event.key === "Escape") {
      escape(event);
    } else if (event.key === "Enter") {
      forget();
      close();
    } else if (["Home", "End", "ArrowLeft", "ArrowRight"].includes(event.key)) {
      keep();
    }
  });

  box.addEventListener("blur", () => {
    forget();
    keep();
    close();
  });
})();
