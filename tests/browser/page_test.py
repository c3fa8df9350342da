"""report.html as a person meets it: in a real browser, opened from disk. page_test.py SOURCE_FOLDER BUILD_FOLDER

Needs Chromium (or Chrome) and axe-core, which comes with PyPI's axe-playwright-python; without them it is skipped (77).
ATTNSCOPE_SCREENSHOTS=FOLDER keeps what each page looked like.
"""
import base64
import contextlib
import gzip
import importlib.util
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import chromium
from pages import Pages

SOURCE, BUILD = sys.argv[1:3]
WCAG = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
WHOLE = ("example", "sample-hostile")  # looked into everywhere; the others as they open
SCREENSHOTS = os.environ.get("ATTNSCOPE_SCREENSHOTS")

OPEN_ALL = "document.querySelectorAll('details').forEach(d => d.open = true)"
# Where keyboard focus is, and how much of it the banner covers: WCAG 2.4.11.
FOCUS = """(() => {
  const e = document.activeElement, box = e.getBoundingClientRect();
  const marks = [...document.querySelectorAll('.banner, .banner strong')].filter(m => getComputedStyle(m).position === 'sticky');
  const covered = Math.max(0, ...marks.map(m => m.getBoundingClientRect()).filter(m => m.top <= 0).map(m => m.bottom));
  return {body: e === document.body, skip: e.className === 'skip', top: box.top, bottom: box.bottom, covered, height: innerHeight,
          what: e.outerHTML.slice(0, 80)};
})()"""
FIRST_SCREEN = """(() => {
  const box = e => { const b = e.getBoundingClientRect(); return {left: b.left, top: b.top, right: b.right, bottom: b.bottom}; };
  const one = s => box(document.querySelector(s));
  const scroll = document.querySelector('.first .scroll');
  return {h1: one('h1'), strip: one('.strip'), banner: one('.banner'), answer: one('.answer'), table: one('.first table'),
          sideways: scroll.scrollWidth - scroll.clientWidth};
})()"""
# On paper nothing is folded but full names, and what a chart and a column already show; nothing reaches beyond the sheet.
PRINTED = """(() => {
  const hidden = [...document.querySelectorAll('details:not([open], .name, .help, .data) > :not(summary)')]
      .filter(e => !e.closest('details.name, details.help, details.data')).filter(e => e.getBoundingClientRect().height === 0);
  const width = document.documentElement.clientWidth;
  const wide = [...document.querySelectorAll('table, svg.chart, pre, p')].filter(e => e.getBoundingClientRect().right > width + 1);
  return {hidden: hidden.length, wide: wide.map(e => e.outerHTML.slice(0, 80)), banner: getComputedStyle(document.querySelector('.banner')).position};
})()"""
# WCAG 1.4.12: a reader's own spacing.
SPACING = "*{line-height:1.5!important;letter-spacing:.12em!important;word-spacing:.16em!important}p{margin-bottom:2em!important}"
CUT_OFF = """[...document.querySelectorAll('body *')]
  .filter(e => !e.closest('.sr, svg, .scroll') && getComputedStyle(e).overflow !== 'visible' &&
               (e.scrollWidth > e.clientWidth + 1 || e.scrollHeight > e.clientHeight + 1)).map(e => e.outerHTML.slice(0, 80))"""
# Blocks in the order of the document, with where they are seen; pictures stand in two columns, each a block of its own.
SEEN = """[...document.querySelectorAll('h1, .strip, .banner, .answer, nav, h2, h3, .claim, .evidence, figure, .scroll, pre, footer')]
  .filter(e => !e.closest('.pictures > *') && e.checkVisibility() && e.getBoundingClientRect().height > 0)
  .map(e => [e.getBoundingClientRect().top, e.outerHTML.slice(0, 80)])"""
# What a name could try, were it not escaped: the page's policy stops each.
ATTACK = """(async () => {
  const violations = [];
  document.addEventListener('securitypolicyviolation', e => violations.push(e.effectiveDirective));
  const add = (name, set) => { const e = document.createElement(name); Object.assign(e, set); document.body.append(e); };
  add('script', {textContent: 'window.ran = true'});
  add('img', {src: 'https://evil.example/x.png'});
  add('iframe', {src: 'https://evil.example/'});  // the browser shows its own page in it, with pictures as data:
  add('style', {textContent: 'h1 { display: none }'});
  document.body.insertAdjacentHTML('beforeend', '<img src="x" onerror="window.ran = true"><b style="position:fixed">x</b>');
  await new Promise(done => setTimeout(done, 300));
  return {ran: !!window.ran, title: getComputedStyle(document.querySelector('h1')).display, violations: [...new Set(violations)].sort()};
})()"""


def axe_source():
    found = importlib.util.find_spec("axe_playwright_python")
    return pathlib.Path(found.submodule_search_locations[0], "axe.min.js").read_text() if found else None


class ReportPage(unittest.TestCase):
    def setUp(self):
        self.browser = browser

    @contextlib.contextmanager
    def opened(self, name, **view):
        with self.subTest(page=name, **view), self.browser.open(pages[name], **view) as page:
            yield page

    def assert_quiet(self, page):
        self.assertEqual(page.requests, [])
        self.assertEqual(page.problems, [])

    def assert_accessible(self, page, rules=None):
        only = {"type": "rule", "values": rules} if rules else {"type": "tag", "values": WCAG}
        found = page.evaluate(f"axe.run(document, {{runOnly: {json.dumps(only)}, resultTypes: ['violations']}})"
                              ".then(r => r.violations.map(v => [v.id, v.nodes.length, v.nodes[0].html, v.nodes[0].failureSummary]))")
        self.assertEqual(found, [])

    def keep(self, page, name):
        if SCREENSHOTS:
            page.screenshot(os.path.join(SCREENSHOTS, name + ".png"))

    def test_each_page_is_accessible_and_loads_nothing(self):
        for name in pages:
            with self.opened(name) as page:
                self.keep(page, f"{name}-1280-light")
                self.assert_quiet(page)
                page.prefer(dark=True)
                self.keep(page, f"{name}-1280-dark")
                if name not in WHOLE:
                    page.evaluate(axe)
                    self.assert_accessible(page)

    def test_everything_unfolded_is_accessible_in_both_schemes(self):
        for name in WHOLE:
            with self.opened(name) as page:
                page.evaluate(axe)
                page.evaluate(OPEN_ALL)
                self.assert_accessible(page)
                page.prefer(dark=True)
                self.assert_accessible(page, ["color-contrast"])

    def test_nothing_reaches_beyond_a_narrow_screen(self):
        for name in pages:
            with self.opened(name, width=320, height=700) as page:
                self.keep(page, f"{name}-320-light")
                page.evaluate(OPEN_ALL)
                self.assertLessEqual(page.evaluate("document.documentElement.scrollWidth"), 320)
        with self.opened("example", width=320, height=700) as page:
            page.evaluate(axe)
            self.assert_accessible(page, ["target-size", "scrollable-region-focusable"])

    def test_a_readers_own_spacing_hides_nothing(self):
        for name in ("example", "counted"):
            for width in (320, 1280):
                with self.opened(name, width=width) as page:
                    page.add_style(SPACING)
                    page.evaluate(OPEN_ALL)
                    self.assertNotEqual(page.evaluate("getComputedStyle(document.querySelector('p')).letterSpacing"), "normal")
                    self.assertLessEqual(page.evaluate("document.documentElement.scrollWidth"), width)
                    self.assertEqual(page.evaluate(CUT_OFF), [])

    def test_it_is_read_in_the_order_in_which_it_is_seen(self):
        for width in (320, 1280):
            with self.opened("example", width=width) as page:
                seen = page.evaluate(SEEN)
                self.assertGreater(len(seen), 40)
                for (before, _), (top, what) in zip(seen, seen[1:]):
                    self.assertGreaterEqual(top, before - 1, what)

    def test_colours_of_the_system_leave_bars_and_banner(self):
        with self.opened("example") as page:
            page.prefer(dark=True, more={"forced-colors": "active"})
            self.keep(page, "example-1280-forced")
            bar = page.evaluate("(s => [getComputedStyle(s).backgroundColor, getComputedStyle(s.firstChild).fill])"
                                "(document.querySelector('td svg'))")
            self.assertNotEqual(*bar)
            self.assertEqual(page.evaluate("getComputedStyle(document.querySelector('.banner')).borderTopWidth"), "2px")

    def test_what_a_screen_reader_is_told(self):
        for name in ("example", "counted"):
            with self.opened(name) as page:
                page.evaluate(OPEN_ALL)
                nodes = page.accessibility()
                named = lambda role: [node for node in nodes if node["role"] == role]
                tables = page.evaluate("document.querySelectorAll('table').length")
                self.assertEqual(len([node for node in named("table") if node["name"]]), tables)
                rows = page.evaluate("document.querySelectorAll('tbody th').length")
                self.assertEqual(len(named("rowheader")), rows, "each row begins with its header")
                self.assertEqual(len(named("columnheader")), page.evaluate("document.querySelectorAll('thead th').length"))
                pictures = named("image")
                self.assertEqual(len(pictures), page.evaluate("document.querySelectorAll('svg[role=img]').length"))
                for picture in pictures:
                    self.assertTrue(picture["name"] and picture["description"], picture)
                for node in nodes:
                    if node["focusable"] and node["role"] not in ("RootWebArea", "main"):
                        self.assertTrue(node["name"], node)
                # Headings go down one step at a time.
                levels = page.evaluate("[...document.querySelectorAll('h1, h2, h3')].map(h => +h.tagName[1])")
                self.assertEqual(levels.count(1), 1)
                self.assertTrue(all(after <= before + 1 for before, after in zip(levels, levels[1:])), levels)

    def test_a_4k_screen_is_used_with_larger_letters(self):
        with self.opened("example", width=3840, height=2160) as page:
            self.keep(page, "example-3840-light")
            self.assertGreaterEqual(page.evaluate("parseFloat(getComputedStyle(document.documentElement).fontSize)"), 20)
            self.assertLess(page.evaluate(FIRST_SCREEN)["table"]["bottom"], 2160)

    def test_the_first_screen_answers(self):
        for name in ("example", "counted", "measured", "fixture", "times"):
            with self.opened(name) as page:
                at = page.evaluate(FIRST_SCREEN)
                order = [at[part]["top"] for part in ("h1", "strip", "banner", "answer", "table")]
                self.assertEqual(order, sorted(order))
                self.assertLessEqual(at["table"]["bottom"], 800)
                self.assertLessEqual(at["sideways"], 0, "a column of the table of implementations is out of sight")
                self.assertTrue(all(part["left"] >= 0 and part["right"] <= 1280 for part in at.values() if isinstance(part, dict)))

    def test_it_is_whole_with_scripts_off(self):
        with self.opened("example") as page:
            text = page.evaluate("document.body.innerText")
        with self.opened("example", scripts=False) as page:
            self.assertEqual(page.evaluate("document.body.innerText"), text)
            # A folded part opens by itself, and a link into one opens it.
            page.evaluate("document.querySelector('.rest > summary').focus()")
            page.press("Enter")
            self.assertTrue(page.evaluate("document.querySelector('.rest').open"))
            self.assert_quiet(page)

    def test_focus_is_never_under_the_banner(self):
        for width in (320, 1280):
            with self.opened("example", width=width, height=600) as page:
                page.evaluate(OPEN_ALL)
                seen = 0
                page.press("Tab")
                while not (at := page.evaluate(FOCUS))["body"]:
                    seen += 1
                    if not at["skip"] and at["bottom"] - at["top"] < at["height"] - at["covered"]:
                        self.assertGreaterEqual(at["top"] + 0.5, at["covered"], at["what"])
                        self.assertLessEqual(at["bottom"] - 0.5, at["height"], at["what"])
                    page.press("Tab")
                self.assertGreater(seen, 50)

    def test_it_prints_whole_on_a4(self):
        for name in pages:
            with self.opened(name, width=703, height=1000) as page:  # 210 mm less the margins
                page.prefer(dark=False, media="print")
                printed = page.evaluate(PRINTED)
                if name == "sample-hostile":  # titles of columns are ours: no trace can make them so long
                    printed["wide"] = []
                self.assertEqual(printed, {"hidden": 0, "wide": [], "banner": "static"})
                if name == "example":
                    pdf = page.pdf()
                    self.assertGreater(len(re.findall(rb"/Type\s*/Page\b", pdf)), 5)
                    if SCREENSHOTS:
                        pathlib.Path(SCREENSHOTS, "example.pdf").write_bytes(pdf)

    def test_the_policy_holds(self):
        with self.opened("example") as page:
            result = page.evaluate(ATTACK)
            self.assertFalse(result["ran"])
            self.assertEqual(result["title"], "block")
            for directive in ("script-src-elem", "script-src-attr", "img-src", "frame-src", "style-src-elem", "style-src-attr"):
                self.assertIn(directive, result["violations"])
            self.assertEqual([address for address in page.requests if not address.startswith("data:")], [])

    def test_hostile_names_stay_names(self):
        for name in ("hostile-run", "sample-hostile"):
            with self.opened(name) as page:
                self.assertNotIn("run by a name", page.evaluate("document.title"))
                self.assertEqual(page.evaluate("document.querySelectorAll('script, img, iframe, style + style').length"), 0)
                self.assertEqual(page.evaluate("document.querySelectorAll('main').length"), 1)
                self.assertEqual(page.evaluate("getComputedStyle(document.querySelector('h1')).display"), "block")
                # Nor do they push the answer out of sight: the banner stays when the page is scrolled.
                self.assertLess(page.evaluate("document.querySelector('.banner').getBoundingClientRect().height"), 120)

    def test_a_poor_run_says_what_it_is(self):
        for name, words in {"nothing": "holds no launches", "one-kernel": "1 kernel", "unknown-device": "no peaks are known of Some Accelerator 9000", "sample-empty": "attnscope", "sample-missing": "—"}.items():
            with self.opened(name) as page:
                self.assertIn(words, page.evaluate("document.body.innerText"))

    def test_a_large_page_opens_at_once(self):
        with self.opened("sample-large") as page:
            self.assertLess(page.opened_in, 2)

    def test_sizes(self):
        for name in ("example", "counted", "measured", "fixture"):  # seven implementations, with all that can be known of them
            self.assertLessEqual(pages[name].stat().st_size, 250_000, name)
        self.assertLessEqual(pages["sample-empty"].stat().st_size, 60_000)

    def test_the_data_is_inside(self):
        text = pages["example"].read_text()
        (link,) = re.findall(r'id="attnscope-report" download="report.json.gz" href="data:application/gzip;base64,([^"]*)"', text)
        held = json.loads(gzip.decompress(base64.b64decode(link)))
        self.assertEqual(held["schema"], "attnscope-report")
        with self.opened("example") as page:
            command = page.evaluate("document.querySelector('#attnscope-report').parentElement.nextElementSibling.textContent.trim()")
        printed = subprocess.run(["sh", "-c", command.replace("report.html", str(pages["example"]))], capture_output=True, check=True)
        self.assertEqual(json.loads(printed.stdout), held)


if __name__ == "__main__":
    axe, found = axe_source(), chromium.executable()
    if not axe or not found:
        print("skipped:", "PyPI's axe-playwright-python is not installed" if found else "no chromium or google-chrome in PATH")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder, chromium.Browser(found) as browser:
        pages = Pages(folder, SOURCE, BUILD).make()
        unittest.main(argv=sys.argv[:1], verbosity=2)
