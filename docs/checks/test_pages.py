"""Every page in Chromium: no other host, no error, no sideways scrolling on a phone."""

import pytest
from conftest import pages

PHONE, DESKTOP = 360, 1280
# Text and pictures that reach beyond the screen, in no box of their own that scrolls.
CUT_OFF = """(() => {
    const shell = 'body, .bd-main, .bd-content, .bd-article-container, .bd-article';
    const scrolls = part => {
        for (let box = part.parentElement; box && !box.matches(shell); box = box.parentElement)
            if (/auto|scroll/.test(getComputedStyle(box).overflowX)) return true;
        return false;
    };
    const parts = 'p, li, dt, dd, h1, h2, h3, code, img, figcaption, pre, table, mjx-container';
    return [...document.querySelectorAll(`.bd-article :is(${parts})`)]
        .filter(part => part.getBoundingClientRect().right > innerWidth + 1)
        .filter(part => !/auto|scroll/.test(getComputedStyle(part).overflowX))
        .filter(part => !scrolls(part))
        .map(part => `${part.tagName}: ${part.textContent.slice(0, 60)}`);
})()"""


@pytest.mark.parametrize("page", pages())
def test_page_needs_no_other_host_and_fits_a_phone(site, browser, page):
    browser.width(PHONE)
    browser.open((site / page).as_uri())
    outside = [url for url in browser.requests() if not url.startswith(("file:", "data:", "blob:"))]
    assert outside == []
    assert browser.complaints() == []
    assert browser.ask("document.documentElement.scrollWidth") <= PHONE
    assert browser.ask(CUT_OFF) == []


def test_search_works_from_files(site, browser):
    browser.width(DESKTOP)
    browser.open((site / "search.html").as_uri() + "?q=certificate")
    count = "document.querySelectorAll('#search-results li').length"
    waited = f"""new Promise(done => {{
        let left = 100;
        const look = () => {count} > 5 || !left-- ? done({count}) : setTimeout(look, 100);
        look();
    }})"""
    assert browser.ask(waited) > 5
    assert browser.complaints() == []


def test_formulas_are_typeset(site, browser):
    browser.open((site / "theory" / "smo.html").as_uri())
    assert browser.ask("document.querySelectorAll('mjx-container svg').length") > 5
    assert browser.ask("document.querySelectorAll('mjx-merror').length") == 0


def brightness(browser):
    colour = browser.ask("getComputedStyle(document.body).backgroundColor")
    red, green, blue = (int(part) for part in colour.split("(")[1].rstrip(")").split(",")[:3])
    return (red + green + blue) / 3


@pytest.mark.parametrize(("scheme", "is_dark"), [("dark", True), ("light", False)])
def test_colours_follow_the_reader(site, browser, scheme, is_dark):
    browser.media(prefers_color_scheme=scheme)
    browser.open((site / "guide" / "certificates.html").as_uri())
    assert (brightness(browser) < 80) == is_dark
    browser.media()


def test_print_leaves_out_what_is_for_the_screen(site, browser):
    browser.width(DESKTOP)
    browser.open((site / "guide" / "certificates.html").as_uri())
    browser.media("print")
    for part in (".bd-header", ".bd-sidebar-primary", ".prev-next-footer"):
        shown = f"getComputedStyle(document.querySelector('{part}')).display"
        assert browser.ask(shown) == "none"
    browser.media()
    assert len(browser.call("Page.printToPDF")["data"]) > 10_000
