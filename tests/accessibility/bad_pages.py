"""A page without faults, and for each rule a modification that violates the rule.

`also`: other rules that the same fault breaks by its nature. Distances that a rule measures are stated here in the
style sheet; none depends on the width of a font's letters or of its space.
"""

from typing import NamedTuple, Tuple

GOOD = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>A page without faults</title>
<style>
:root { color-scheme: light dark; --paper: #fff; --ink: #222; --soft: #555; --edge: #777; --link: #10519e }
@media (prefers-color-scheme: dark) {
  :root { --paper: #111; --ink: #eee; --soft: #aaa; --edge: #888; --link: #93bffa }
}
body { margin: 1rem; background: var(--paper); color: var(--ink); font: 1rem/1.5 sans-serif; overflow-wrap: anywhere }
a { color: var(--link) }
.skip-link { position: absolute; transform: translateY(-300%) }
.skip-link:focus { transform: none; background: var(--paper) }
:focus-visible { outline: 3px solid var(--link) }
.soft { color: var(--soft) }
button, input { min-height: 2rem; border: 1px solid var(--edge); font: inherit; max-width: 100% }
.region { overflow-x: auto }
.narrow { width: 6rem; max-width: 100% }
.picture text { fill: var(--ink) }
.picture circle { fill: var(--link) }
</style>
</head>
<body>
<a class="skip-link" href="#content">Skip to content</a>
<main id="content" tabindex="-1">
<h1>Title</h1>
<p class="soft">Some words with <a class="inner" href="/else">a link</a> in them.</p>
<h2 id="part">Part</h2>
<form role="search"><label for="field">Words</label>
<input id="field" name="q" value="v"><button aria-label="Find now">Find</button></form>
<ul><li>one</li><li>two</li></ul>
<div class="region" role="region" aria-label="Numbers" tabindex="0"><table><caption>Numbers</caption>
<thead><tr><th scope="col">a</th><th scope="col">b</th></tr></thead>
<tbody><tr><td>1</td><td>2</td></tr></tbody></table></div>
<svg class="picture" role="img" aria-label="A dot" width="60" height="60"><circle cx="20" cy="20" r="9"></circle></svg>
<div class="narrow">words in a narrow column</div>
</main>
<footer><a href="/one">First</a> <a href="/two">Second</a></footer>
</body>
</html>
"""


class Fault(NamedTuple):
    rule: str
    old: str
    new: str
    also: Tuple[str, ...] = ()


STYLE_END = "</style>"
FAULTS = (
    Fault("language", 'lang="en"', ""),
    Fault("title", "A page without faults", ""),
    Fault("zoom", "initial-scale=1", "initial-scale=1, user-scalable=no"),
    Fault("refresh", "<title>", '<meta http-equiv="refresh" content="3000"><title>'),
    Fault("headings", "<h2 id=\"part\">Part</h2>", "<h3 id=\"part\">Part</h3>"),
    Fault("headings", "<h1>Title</h1>", "<p>Title</p><h2>Part</h2>"),
    Fault("headings", "<h1>Title</h1>", "<h1>Title</h1><h1>Title</h1>"),
    Fault("main", "</main>", "<div role=\"main\">more</div></main>"),
    Fault("skip-link", 'href="#content"', 'href="#field"'),
    Fault("skip-link", 'tabindex="-1"', ""),
    Fault("landmark", "<footer>", "<p>outside</p><footer>"),
    Fault("landmark-names", "<footer>", "<nav aria-label=\"n\">x</nav><nav aria-label=\"n\">y</nav><footer>"),
    Fault("landmark-names", "<footer>", "<div role=\"region\" aria-label=\"Numbers\">more</div><footer>"),
    Fault("table-caption", "<caption>Numbers</caption>", "", also=("accessible-name",)),
    Fault("table-header", ' scope="col"', ""),
    Fault("table-header", '<td>1</td>', '<th>1</th>'),
    Fault("list", "<li>one</li>", "<p>one</p>"),
    Fault("list", "<h1>", "<div><li>lone</li></div><h1>"),
    Fault("picture", "<h1>", '<img src="data:," width="50" height="50"><h1>', also=("accessible-name",)),
    Fault("unique-id", 'id="part"', 'id="content"'),
    Fault("reference", 'name="q"', 'name="q" aria-describedby="nothing"'),
    Fault("aria", 'name="q"', 'name="q" aria-labeled="x"'),
    Fault("aria", '<h1>Title', '<h1 role="headline">Title'),
    Fault("tab-index", 'name="q"', 'name="q" tabindex="2"', also=("keyboard",)),
    Fault("hidden-focus", '<ul>', '<div aria-hidden="true"><button>Press</button></div><ul>'),
    Fault("label", '<label for="field">Words</label>', '<span>Words</span>', also=("accessible-name",)),
    Fault("label-in-name", 'aria-label="Find now"', 'aria-label="Go"'),
    Fault("status", 'name="q"', 'name="q" role="combobox" aria-expanded="false" aria-controls="part"'),
    Fault("accessible-name", ' aria-label="Find now">Find<', ' style="width: 3rem">&#32;<'),
    Fault("text-contrast", "--soft: #555", "--soft: #888"),
    Fault("text-contrast", "--soft: #aaa", "--soft: #555"),
    Fault("text-contrast", STYLE_END, ".soft { opacity: 0.5 }" + STYLE_END),
    Fault("text-contrast", STYLE_END, "ul { background-image: linear-gradient(#fff, #000) }" + STYLE_END),
    Fault("text-contrast", 'value="v"', 'placeholder="p"'),
    Fault("control-contrast", STYLE_END, "input { border-color: var(--paper); background: var(--paper) }" + STYLE_END),
    Fault("graphic-contrast", STYLE_END, ".picture circle { fill: #8888 }" + STYLE_END),
    Fault("link-colour", STYLE_END, ".inner { text-decoration: none }" + STYLE_END),
    Fault("reflow", STYLE_END, "h1 { width: 400px }" + STYLE_END),
    Fault("reflow", '<ul>', '<div class="region" role="region" aria-label="r" tabindex="0">'
          '<p style="width: 1500px">wide</p></div><ul>'),
    Fault("scroll-focus", 'aria-label="Numbers" tabindex="0"><table>', 'aria-label="Numbers"><table style="width: 9999px">', also=("keyboard",)),
    Fault("clipped-text", STYLE_END, ".narrow { width: 4rem; overflow: hidden; white-space: nowrap }" + STYLE_END),
    Fault("clipped-text", STYLE_END, ".narrow { height: 24px; overflow: hidden }" + STYLE_END, also=("overlapping-text",)),
    Fault("overlapping-text", STYLE_END, ".narrow { margin-top: -2.6rem; margin-bottom: 2.6rem }"
          ".picture { position: absolute; right: 0; top: 0 } .region { padding-top: 3rem }" + STYLE_END),
    Fault("target-size", STYLE_END, "footer a { display: block; font-size: 7px; line-height: 9px }" + STYLE_END),
    Fault("motion", STYLE_END, "@keyframes k { to { margin: 1px } } h1 { animation: k 9s infinite }" + STYLE_END),
    Fault("focus-visible", STYLE_END, ".inner:focus-visible { outline: none }" + STYLE_END),
    Fault("focus-contrast", STYLE_END, ".inner:focus-visible { outline-color: #8888 }" + STYLE_END),
    Fault("focus-in-view", '<ul>', '<button style="position: fixed; left: -9999px">Away</button><ul>'),
    Fault("keyboard", 'name="q"', """name="q" onkeydown="if (event.key === 'Tab') event.preventDefault()" """),
    Fault("keyboard", 'href="/two"', 'href="/two" onfocus="document.getElementById(\'field\').focus()"'),
    Fault("heading-text", "<h2 id=\"part\">Part</h2>", "<h2 id=\"part\"> </h2>", also=("accessible-name",)),
)
