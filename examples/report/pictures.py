"""The README's pictures of a report: pictures.py REPORT.html FOLDER. Needs Debian's chromium."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests/browser"))
import chromium  # noqa: E402

page_path, folder = sys.argv[1], pathlib.Path(sys.argv[2])
with chromium.Browser(chromium.executable()) as browser, browser.open(page_path) as page:
    page.screenshot(folder / "first-screen.png")
    page.prefer(dark=True)
    page.screenshot(folder / "first-screen-dark.png")
    page.prefer(dark=False)
    page.screenshot(folder / "occupancy-throughput.png", of="figure:has(#c-occupancy-throughput)")
    page.screenshot(folder / "bytes.png", of="figure:has(#c-bytes)")
    page.screenshot(folder / "finding.png", of="article:has([id^=f-low-occupancy-by-design])")
